/* Interop.java - implements the command language of interop.sh for the drivers on the JVM. Each
 * Driver class connects it to a library. */
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

interface Interop {
    void create(long n, double p) throws Exception;

    void read(InputStream in) throws Exception;

    void write(OutputStream out) throws Exception;

    void add(Object key) throws Exception;

    boolean has(Object key) throws Exception;

    /* text, utf16le, units: String; i32: Integer; i64: Long; hex: byte[] */
    static Object key(String type, String line) {
        switch (type) {
            case "text":
            case "utf16le":
                return line;
            case "i32":
                return Integer.valueOf(line);
            case "i64":
                return Long.valueOf(line);
            case "hex": {
                byte[] bytes = new byte[line.length() / 2];
                for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) Integer.parseInt(line.substring(2 * i, 2 * i + 2), 16);
                return bytes;
            }
            case "units": {
                StringBuilder units = new StringBuilder();
                for (int i = 0; i < line.length(); i += 4) units.append((char) Integer.parseInt(line.substring(i, i + 4), 16));
                return units.toString();
            }
            default:
                throw new IllegalArgumentException(type);
        }
    }

    /* Java's standard line readers would also treat a carriage return as the end of a line. */
    static String[] lines(String path) throws Exception {
        String text = Files.readString(Path.of(path), StandardCharsets.UTF_8);
        return text.isEmpty() ? new String[0] : text.substring(0, text.length() - 1).split("\n", -1);
    }

    default void addAll(String type, String path) throws Exception {
        for (String line : lines(path)) add(key(type, line));
    }

    default void open(String path) throws Exception {
        try (InputStream in = new FileInputStream(path)) {
            read(in);
        }
    }

    default void save(String path) throws Exception {
        try (OutputStream out = new FileOutputStream(path)) {
            write(out);
        }
    }

    default void run(String[] args) throws Exception {
        System.setOut(System.err); // keeps a library's log messages out of the output
        String type = args[2];
        switch (args[0]) {
            case "make":
                create(Long.parseLong(args[4]), Double.parseDouble(args[5]));
                addAll(type, args[3]);
                save(args[6]);
                break;
            case "add":
                open(args[3]);
                addAll(type, args[4]);
                save(args[5]);
                break;
            case "ask":
                open(args[3]);
                PrintStream out = new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
                for (String line : lines(args[4])) out.print(has(key(type, line)) ? "1\n" : "0\n");
                out.close();
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
