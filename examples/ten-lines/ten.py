# ten.py - creates, saves, opens and queries a filter.
import petal

seen = petal.Filter(1_000_000, 0.01)
seen.add("https://example.com/")
print("https://example.org/" in seen)
seen.save("seen.petal")
with petal.open("seen.petal") as seen:
    print("https://example.com/" in seen)
