// hosts.kt - Kotlin, one key at a time: KEYS FOLDER.
import java.io.File
import java.nio.file.Path
import petal.BloomFilter

private fun unhex(value: String): ByteArray =
    if (value == "-") ByteArray(0)
    else value.chunked(2).map { it.toInt(16).toByte() }.toByteArray()

private fun key(type: String, value: String): Any =
    when (type) {
        "i64" -> value.toLong()
        "f64" -> Double.fromBits(value.toULong(16).toLong())
        "text" -> unhex(value).decodeToString()
        else -> unhex(value)
    }

fun main(args: Array<String>) {
    for (type in listOf("text", "i64", "f64", "bytes")) {
        val keys =
            File(args[0]).readLines().filter { it.startsWith("$type ") }
                .map { key(type, it.substringAfter(' ')) }
        BloomFilter.open(Path.of(args[1], "$type.petal")).use { filter ->
            val answers = keys.joinToString("") { if (filter.contains(it)) "1" else "0" }
            println("$type\t`${keys[0]::class.simpleName}`\t$answers")
        }
    }
}
