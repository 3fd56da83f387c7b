package petal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * Loads the native library: the file named by the property petal.native, or the library in the jar
 * for this platform. The library from the jar is copied to a file with a random name that only this
 * user can read or write, then loaded, and then deleted. So two programs never share this file, and
 * no file is left behind.
 */
final class NativeLibrary {
    private NativeLibrary() {}

    static void load() {
        String given = System.getProperty("petal.native");
        if (given != null) {
            System.load(Path.of(given).toAbsolutePath().toString());
            return;
        }
        String name = "/META-INF/native/" + platform() + "/" + System.mapLibraryName("petal-java");
        try (InputStream library = NativeLibrary.class.getResourceAsStream(name)) {
            if (library == null)
                throw new UnsatisfiedLinkError("petal has no library for " + platform()
                        + "; build one, and name it with -Dpetal.native=PATH");
            loadCopy(library);
        } catch (IOException failure) {
            UnsatisfiedLinkError error = new UnsatisfiedLinkError(
                    "petal's library cannot be copied to " + System.getProperty("java.io.tmpdir")
                            + "; choose another folder with -Djava.io.tmpdir: " + failure);
            error.initCause(failure);
            throw error;
        }
    }

    private static void loadCopy(InputStream library) throws IOException {
        Path copy = Files.createTempFile("petal-", System.mapLibraryName(""));
        try {
            Files.copy(library, copy, StandardCopyOption.REPLACE_EXISTING);
            System.load(copy.toString());
        } finally {
            // Windows can't delete a loaded library's file.
            if (!copy.toFile().delete()) copy.toFile().deleteOnExit();
        }
    }

    private static String platform() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        if (os.startsWith("mac")) os = "macos";
        if (os.startsWith("windows")) os = "windows";
        if (arch.equals("amd64")) arch = "x86_64";
        if (arch.equals("arm64")) arch = "aarch64";
        return os + "-" + arch;
    }
}
