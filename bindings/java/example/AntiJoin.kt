import petal.BloomFilter

/** Prints the orders whose customers are certainly new. */
fun main() {
    val known = List(10_000) { "customer-$it" }
    val orders = List(10_000) { "customer-${it + 5_000}" } // half of the customers are known
    BloomFilter.create(known.size.toLong(), 0.001).use { filter ->
        filter.addAll(known)
        val new = orders.filterNot { it in filter }
        check(new.none { it in known.toSet() })
        println("${new.size} orders are of new customers")
    }
}
