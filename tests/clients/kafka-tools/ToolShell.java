import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs Kafka's tools one after the other in one process, since starting a process takes seconds for each.
 *
 * On its input stand requests: the number of words, the words (the tool's class and its arguments), the number of bytes
 * that the tool finds on its input, these. Each is answered by the exit code, the number of bytes that the tool printed,
 * these. Numbers have four bytes, words are as of DataInput.readUTF.
 */
final class ToolShell {
    private static final String TOOLS = "org.apache.kafka.tools.";

    /** A hook may wait for its tool, which stands still where it has ended itself. */
    private static final long HOOK_MS = 5000;

    /** The exit code of the tool that runs, once it has one. */
    private static volatile CompletableFuture<Integer> ended;
    /** What it wants to be run at its end. */
    private static final Queue<Runnable> hooks = new ConcurrentLinkedQueue<>();

    /** Loads the tools' own classes anew: some count in static fields, and would go on where the last run ended. */
    private static final class Fresh extends URLClassLoader {
        Fresh(URL[] jars) { super(jars, ToolShell.class.getClassLoader()); }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(TOOLS)) return super.loadClass(name, resolve);
            synchronized (getClassLoadingLock(name)) {
                Class<?> found = findLoadedClass(name);
                if (found != null) return found;
                try {
                    return findClass(name);
                } catch (ClassNotFoundException e) {
                    return super.loadClass(name, resolve);
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((code, message) -> leave(code));
        Exit.setHaltProcedure((code, message) -> leave(code));
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        URL[] jars = toolJars();
        var requests = new DataInputStream(System.in);
        var answers = new DataOutputStream(System.out);
        for (List<String> words; (words = nextWords(requests)) != null;) {
            System.setIn(new ByteArrayInputStream(requests.readNBytes(requests.readInt())));
            var printed = new ByteArrayOutputStream();
            answers.writeInt(run(jars, words, new PrintStream(printed, true)));
            answers.writeInt(printed.size());
            printed.writeTo(answers);
            answers.flush();
        }
        Runtime.getRuntime().halt(0);  // whatever thread a tool has left behind
    }

    private static URL[] toolJars() throws MalformedURLException {
        var jars = new ArrayList<URL>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            var file = new File(path);
            if (file.getName().startsWith("kafka-tools-")) jars.add(file.toURI().toURL());
        }
        return jars.toArray(URL[]::new);
    }

    private static List<String> nextWords(DataInputStream requests) throws IOException {
        int count;
        try {
            count = requests.readInt();
        } catch (EOFException e) {
            return null;
        }
        var words = new ArrayList<String>(count);
        for (int i = 0; i < count; ++i) words.add(requests.readUTF());
        return words;
    }

    /** Runs the tool in a thread of its own: its exit code. */
    private static int run(URL[] jars, List<String> words, PrintStream out) throws Exception {
        System.setOut(out);
        System.setErr(out);
        ended = new CompletableFuture<>();
        var loader = new Fresh(jars);
        var thread = new Thread(() -> main(loader, words, out));
        thread.setContextClassLoader(loader);
        thread.start();
        int code = ended.get();
        for (Runnable hook; (hook = hooks.poll()) != null;) {
            var last = new Thread(hook);
            last.start();
            last.join(HOOK_MS);
        }
        return code;
    }

    private static void main(ClassLoader loader, List<String> words, PrintStream out) {
        try {
            Class.forName(TOOLS + words.get(0), true, loader).getMethod("main", String[].class)
                .invoke(null, (Object) words.subList(1, words.size()).toArray(String[]::new));
            ended.complete(0);
        } catch (InvocationTargetException e) {
            e.getCause().printStackTrace(out);
            ended.complete(1);
        } catch (ReflectiveOperationException e) {
            e.printStackTrace(out);
            ended.complete(1);
        }
    }

    /** Where a tool would end the process. Its thread stops here for good: tools catch whatever is thrown. */
    private static void leave(int code) {
        ended.complete(code);
        while (true) LockSupport.park();
    }
}
