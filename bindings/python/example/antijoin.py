"""antijoin.py - prints the rows of a large table whose keys are not in a small table. The small
table's keys are sent as the bytes of a Bloom filter."""

from itertools import compress

import petal

orders = [(f"order-{i}", i % 7) for i in range(10_000)]
shipped = [f"order-{i}" for i in range(0, 10_000, 2)]

sender = petal.Filter(len(shipped), 0.001)
sender.update(shipped)
message = sender.to_bytes()  # a filter of 10 KB instead of the 5,000 keys

receiver: petal.Filter = petal.Filter.from_bytes(message)
found = receiver.contains_batch([order for order, _ in orders])
open_orders = list(compress(orders, (not answer for answer in found)))

# The result never contains a key of a shipped order. About one in a thousand other keys is missed.
assert not {order for order, _ in open_orders} & set(shipped)
print(f"{len(open_orders)} of 5000 open orders found, with {len(message)} bytes sent")
