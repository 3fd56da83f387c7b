package petal;

import java.lang.ref.Cleaner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the memory that filters hold outside the heap. The garbage collector doesn't see this
 * memory, so with a large heap it would run too late to free filters that were never closed. So
 * this class runs the collector when these bytes reach a limit, and then sets the limit to twice
 * the bytes still in use. A program that closes its filters, or keeps using them, causes few such
 * runs.
 */
final class NativeBytes {
    static final Cleaner CLEANER = Cleaner.create();

    private static final long LEAST = Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 8);
    private static final int MOST_POLLS = 9; // half a second

    private static final AtomicLong used = new AtomicLong();
    private static volatile long limit = LEAST;

    private NativeBytes() {}

    /** Adds a number of bytes, which may be negative, to the count. If the count grows, this may
     * run the garbage collector. */
    static void add(long bytes) {
        long now = used.addAndGet(bytes);
        if (bytes > 0 && now > limit) collectAtLimit();
        // After a peak, each filter that is freed lowers the limit a little.
        if (bytes < 0 && now < limit / 4) limit = Math.max(LEAST, limit - limit / 16);
    }

    private static synchronized void collectAtLimit() {
        if (used.get() <= limit) return; // another thread has already run the collection
        collect();
        limit = Math.max(LEAST, 2 * used.get());
    }

    /** Frees unreachable filters. */
    static void collect() {
        CountDownLatch reached = new CountDownLatch(1);
        CLEANER.register(new Object(), reached::countDown);
        System.gc();
        boolean interrupted = false;
        long before = Long.MAX_VALUE;
        // The cleaner is a separate thread. Wait until it has reached this collection and has
        // stopped making progress.
        for (int poll = 0; poll < MOST_POLLS; poll++) {
            try {
                boolean isReached = reached.await(1L << poll, TimeUnit.MILLISECONDS);
                if (isReached) TimeUnit.MILLISECONDS.sleep(1);
                long now = used.get();
                if (isReached && now == before) break;
                before = now;
            } catch (InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }
}
