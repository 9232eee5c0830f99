import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The harness of the Java clients: every feature prints one PASS, FAIL or SKIP line.
 * THALWEG_SKIP_FEATURES names, comma-separated, the features that are not run, and THALWEG_FEATURE_SECONDS how long one
 * feature may take (default 60).
 */
final class Check {
    static final class Skip extends RuntimeException {
        Skip(String why) { super(why); }
    }

    interface Body { void run() throws Exception; }

    private static final Set<String> SKIPPED = Set.of(env("THALWEG_SKIP_FEATURES", "").split(","));
    private static final double LIMIT = Double.parseDouble(env("THALWEG_FEATURE_SECONDS", "60"));

    private final String client;
    private final String run = Long.toHexString(System.currentTimeMillis());
    private int failed;

    Check(String client) { this.client = client; }

    private static String env(String key, String otherwise) { return Objects.requireNonNullElse(System.getenv(key), otherwise); }

    /** A name for a topic or a group that no other run uses. */
    String name(String what) { return "interop-" + client + "-" + what + "-" + run; }

    void run(String feature, Body body) {
        if (SKIPPED.contains(feature)) {
            System.out.printf("SKIP %s %s (expected failure)%n", client, feature);
            return;
        }
        long start = System.nanoTime();
        var task = new FutureTask<Void>(() -> { body.run(); return null; });
        var thread = new Thread(task, feature);
        thread.setDaemon(true);
        thread.start();
        Throwable error = null;
        try {
            task.get((long) (LIMIT * 1000), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            error = new AssertionError("no end after " + LIMIT + " s");
            error.setStackTrace(thread.getStackTrace());
            thread.interrupt();
        } catch (ExecutionException e) {
            error = e.getCause();
        } catch (InterruptedException e) {
            error = e;
        }
        if (error == null) {
            System.out.printf("PASS %s %s %.2fs%n", client, feature, (System.nanoTime() - start) / 1e9);
        } else if (error instanceof Skip) {
            System.out.printf("SKIP %s %s: %s%n", client, feature, error.getMessage());
        } else {
            failed++;
            System.out.printf("FAIL %s %s: %s%n", client, feature, String.valueOf(error).replace('\n', ' '));
            error.printStackTrace();
        }
    }

    void done() { System.exit(failed > 0 ? 1 : 0); }

    static void need(boolean cond, Object what) {
        if (!cond) throw new AssertionError(String.valueOf(what));
    }

    static void until(Duration limit, String what, Callable<Boolean> fn) throws Exception {
        for (long end = System.nanoTime() + limit.toNanos(); System.nanoTime() < end; Thread.sleep(100)) {
            if (fn.call()) return;
        }
        throw new AssertionError(what);
    }
}
