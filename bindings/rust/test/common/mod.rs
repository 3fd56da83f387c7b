//! What the tests share.
#![allow(dead_code)] // each test uses a part
use std::path::{Path, PathBuf};

pub const SECRET: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// A file of the repository, which run.sh names.
pub fn repository(path: &str) -> PathBuf {
    PathBuf::from(std::env::var("PETAL_REPOSITORY").expect("PETAL_REPOSITORY")).join(path)
}

/// The words of each line that is no comment.
pub fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect()
}

pub fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

/// Bytes in hexadecimal; `-` are none.
pub fn unhex(text: &str) -> Vec<u8> {
    let text = if text == "-" { "" } else { text };
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// Makes a new folder the current one until it is dropped. The programs of the documents write files
/// and so run one at a time.
pub fn in_folder(name: &str) -> impl Drop {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    struct Here(PathBuf, #[allow(dead_code)] std::sync::MutexGuard<'static, ()>);
    impl Drop for Here {
        fn drop(&mut self) {
            std::env::set_current_dir(&self.0).unwrap();
        }
    }
    let one = ONE.lock().unwrap_or_else(|broken| broken.into_inner());
    let here = Here(std::env::current_dir().unwrap(), one);
    let folder = std::env::temp_dir().join(format!("petal-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::env::set_current_dir(&folder).unwrap();
    here
}
