import java.nio.file.Files
import petal.BloomFilter
import petal.KeyType
import petal.Mode

/** Tests the library from Kotlin: `in`, `use`, predicates, and overloads by key type. */
object KotlinTest {
    @JvmStatic
    fun testAFilterReadsLikeKotlin() {
        BloomFilter.create(1000, 0.01).use { seen ->
            Tap.check(seen.add("https://example.com/"), "new")
            Tap.check("https://example.com/" in seen && "https://example.org/" !in seen, "in")
            Tap.same(seen.addAll(listOf("one", 2, 3.5, "four".toByteArray())), 4L, "addAll")
            Tap.check(2 in seen && 2L in seen && 3.5f in seen && "four" in seen, "kinds")
            Tap.same(seen.addAll(longArrayOf(10, 11)), 2L, "LongArray")
            Tap.same(listOf("one", "nine").filter(seen::contains), listOf("one"), "filter")
            Tap.same(seen.containsEach(arrayOf("one", "nine")).toList(), listOf(true, false), "")
        }
    }

    @JvmStatic
    fun testFilesAndFailures() {
        val path = Files.createTempDirectory("kotlin").resolve("seen.petal")
        BloomFilter.builder().capacity(100).keyType(KeyType.TEXT).build().use { it.save(path) }
        BloomFilter.open(path, Mode.WRITE).use { Tap.check(it.add("ключ"), "new") }
        val closed = BloomFilter.open(path).apply { use { Tap.check("ключ" in it, "text") } }
        Tap.raises(IllegalStateException::class.java, { "ключ" in closed }, "closed")
        BloomFilter.open(path).use {
            Tap.raises(IllegalArgumentException::class.java, { 5 in it }, "another type")
        }
    }
}
