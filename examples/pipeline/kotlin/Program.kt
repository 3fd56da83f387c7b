// Program.kt - a pipeline's program in Kotlin; examples/pipeline/README.md describes the protocol.
import java.nio.file.Path
import kotlin.system.exitProcess
import petal.BloomFilter
import petal.Mode
import petal.OpenOptions

private fun lines() = System.`in`.bufferedReader(Charsets.UTF_8).readText().split("\n").dropLast(1)

private fun ask(format: String, path: String) =
    BloomFilter.open(Path.of(path), Mode.READ, OpenOptions().format(format)).use { filter ->
        print(filter.containsEach(lines()).joinToString("") { if (it) "1\n" else "0\n" })
    }

private fun build(path: String) =
    BloomFilter.create(100_000, 0.01).use { filter ->
        for (line in lines()) {
            val value = line.substringAfter('\t')
            when (line.substringBefore('\t')) {
                "i64" -> filter.add(value.toLong())
                "f64" -> filter.add(value.toDouble())
                else -> filter.add(value)
            }
        }
        filter.save(Path.of(path))
    }

fun main(args: Array<String>) {
    when {
        args.size == 3 && args[0] == "ask" -> ask(args[1], args[2])
        args.size == 2 && args[0] == "build" -> build(args[1])
        else -> {
            System.err.println("usage: program ask FORMAT FILE | build OUT")
            exitProcess(2)
        }
    }
}
