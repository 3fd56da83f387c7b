// Guava.kt - a job that uses Guava instead of Petal: creates a filter that contains a file's lines,
// and queries it.
import com.google.common.hash.BloomFilter
import com.google.common.hash.Funnels
import java.io.File
import kotlin.system.exitProcess

private val funnel = Funnels.stringFunnel(Charsets.UTF_8)

private fun make(keys: String, out: String, rate: String) {
    val lines = File(keys).readLines()
    val filter = BloomFilter.create(funnel, lines.size.toLong(), rate.toDouble())
    lines.forEach { filter.put(it) }
    File(out).outputStream().use { filter.writeTo(it) }
}

private fun ask(path: String) {
    val filter = File(path).inputStream().use { BloomFilter.readFrom(it, funnel) }
    print(generateSequence(::readLine).joinToString("") { if (filter.mightContain(it)) "1\n" else "0\n" })
}

fun main(args: Array<String>) {
    when {
        args.size == 4 && args[0] == "make" -> make(args[1], args[2], args[3])
        args.size == 2 && args[0] == "ask" -> ask(args[1])
        else -> {
            System.err.println("usage: guava make KEYS OUT RATE | ask FILE")
            exitProcess(2)
        }
    }
}
