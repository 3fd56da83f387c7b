import petal.BloomFilter

/** Prints the orders that are certainly from new customers, and few others. */
fun main() {
    val known = List(10_000) { "customer-$it" }
    val orders = List(10_000) { "customer-${it + 5_000}" } // half of them known
    BloomFilter.create(known.size.toLong(), 0.001).use { filter ->
        filter.addAll(known)
        val new = orders.filterNot { it in filter }
        check(new.none { it in known.toSet() })
        println("${new.size} orders are of new customers")
    }
}
