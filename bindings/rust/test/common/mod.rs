//! Helper functions for all tests.
#![allow(dead_code)] // each test uses only some of these functions
use std::path::{Path, PathBuf};

pub const SECRET: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Returns the path of a file in the repository. run.sh sets the repository's path.
pub fn repository(path: &str) -> PathBuf {
    PathBuf::from(std::env::var("PETAL_REPOSITORY").expect("PETAL_REPOSITORY")).join(path)
}

/// Returns the words of each line that is not a comment.
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

/// Parses hexadecimal bytes. `-` means no bytes.
pub fn unhex(text: &str) -> Vec<u8> {
    let text = if text == "-" { "" } else { text };
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// Creates a folder that is the current folder until the value is dropped. The programs in the
/// documents write files, so only one of them runs at a time.
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
