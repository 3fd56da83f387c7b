import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;

/** Tap CLASS...: runs each method named test... in these classes, and prints TAP. */
public final class Tap {
    public static void main(String[] classes) throws Exception {
        int number = 0;
        int failed = 0;
        for (String name : classes) {
            Method[] methods = Class.forName(name).getDeclaredMethods();
            Arrays.sort(methods, Comparator.comparing(Method::getName));
            for (Method method : methods) {
                boolean isTest = method.getName().startsWith("test");
                if (!isTest || method.getParameterCount() > 0) continue; // Kotlin's lambdas
                number++;
                Throwable failure = run(method);
                if (failure != null) failed++;
                System.out.println((failure == null ? "ok " : "not ok ") + number + " - " + name
                        + ": " + method.getName().substring(4));
                if (failure != null) print(failure);
                System.out.flush();
            }
        }
        System.out.println("1.." + number);
        System.exit(failed > 0 ? 1 : 0);
    }

    private static Throwable run(Method method) throws Exception {
        try {
            method.setAccessible(true);
            method.invoke(null);
            return null;
        } catch (InvocationTargetException thrown) {
            return thrown.getCause();
        }
    }

    private static void print(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        text.toString().lines().limit(25).forEach(line -> System.out.println("# " + line));
    }

    // ---- assertions ----

    interface Call {
        void run() throws Exception;
    }

    static void check(boolean holds, Object about) {
        if (!holds) throw new AssertionError(String.valueOf(about));
    }

    static void same(Object found, Object expected, Object about) {
        check(java.util.Objects.deepEquals(found, expected),
                about + ": " + show(found) + " is not " + show(expected));
    }

    private static String show(Object one) {
        String text = one instanceof Object[] ? Arrays.deepToString((Object[]) one)
                : one instanceof byte[] ? ((byte[]) one).length + " bytes" : String.valueOf(one);
        return text.length() > 200 ? text.substring(0, 200) : text;
    }

    /** Returns the exception that the call throws. It must be an instance of this class or of a
     * subclass. */
    static <T extends Throwable> T raises(Class<T> kind, Call call, Object about) {
        try {
            call.run();
        } catch (Throwable thrown) {
            if (kind.isInstance(thrown)) return kind.cast(thrown);
            throw new AssertionError(about + ": not " + kind.getName(), thrown);
        }
        throw new AssertionError(about + ": no " + kind.getName());
    }
}
