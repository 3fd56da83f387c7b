import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import petal.BloomFilter;
import petal.Mode;

/** Dedupe FILE: prints the input lines that FILE has not seen, and remembers them. */
public final class Dedupe {
    public static void main(String[] args) throws IOException {
        Path file = Path.of(args[0]);
        PrintStream out = new PrintStream(System.out, false, UTF_8);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        try (BloomFilter seen = Files.exists(file) ? BloomFilter.open(file, Mode.LOAD)
                : BloomFilter.builder().capacity(1_000_000).rate(1e-6).build()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine())
                if (seen.add(line)) out.println(line);
            seen.save(file);
        }
        out.flush();
    }
}
