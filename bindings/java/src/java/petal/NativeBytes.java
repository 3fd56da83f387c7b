package petal;

import java.lang.ref.Cleaner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the memory outside the heap that filters hold. The garbage collector does not see it: with
 * a large heap it would run too late to free filters that nobody closed. So it is called when these
 * bytes reach a limit, which is then set to twice what is still in use. A program that closes its
 * filters, or keeps them, causes few such calls.
 */
final class NativeBytes {
    static final Cleaner CLEANER = Cleaner.create();

    private static final long LEAST = Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 8);
    private static final int MOST_POLLS = 9; // half a second

    private static final AtomicLong used = new AtomicLong();
    private static volatile long limit = LEAST;

    private NativeBytes() {}

    /** So many bytes more, or fewer. May run the garbage collector, if there are more. */
    static void add(long bytes) {
        long now = used.addAndGet(bytes);
        if (bytes > 0 && now > limit) collectAtLimit();
        // After a peak the limit comes down, a little with each filter that is freed.
        if (bytes < 0 && now < limit / 4) limit = Math.max(LEAST, limit - limit / 16);
    }

    private static synchronized void collectAtLimit() {
        if (used.get() <= limit) return; // another thread was first
        collect();
        limit = Math.max(LEAST, 2 * used.get());
    }

    /** Frees the filters that nobody can reach. */
    static void collect() {
        CountDownLatch reached = new CountDownLatch(1);
        CLEANER.register(new Object(), reached::countDown);
        System.gc();
        boolean interrupted = false;
        long before = Long.MAX_VALUE;
        // The cleaner is a thread of its own: wait until it has come to this cycle and made no
        // progress since the last look.
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
