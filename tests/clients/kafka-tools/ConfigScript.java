import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.internals.Exit;
import org.apache.kafka.tools.ConfigCommand;

/**
 * Runs a script of kafka-configs in one JVM: java -cp LIB ConfigScript.java BOOTSTRAP PAUSE_MS, a command a line on the input.
 * Of each it prints the line, what the tool printed, and how it ended. PAUSE_MS is waited after each change.
 */
public class ConfigScript {
    private static final class Ended extends RuntimeException {
        final int code;

        Ended(int code) {
            this.code = code;
        }
    }

    public static void main(String[] args) throws Exception {
        Exit.Procedure ended = (code, message) -> {
            throw new Ended(code);
        };
        Exit.setExitProcedure(ended);
        Exit.setHaltProcedure(ended);
        PrintStream out = System.out;
        BufferedReader script = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = script.readLine(); line != null; line = script.readLine()) {
            if (line.isBlank() || line.startsWith("#")) continue;
            List<String> words = new ArrayList<>(List.of("--bootstrap-server", args[0]));
            words.addAll(List.of(line.split(" ")));
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            int code = run(words.toArray(new String[0]), new PrintStream(printed, true, StandardCharsets.UTF_8));
            System.setOut(out);
            out.println("$ " + line);
            out.print(printed.toString(StandardCharsets.UTF_8));
            out.println("= " + code);
            if (line.contains("--alter")) Thread.sleep(Long.parseLong(args[1]));
        }
        Exit.resetExitProcedure();
        Exit.resetHaltProcedure();
        out.flush();
        System.exit(0);
    }

    private static int run(String[] words, PrintStream printed) {
        System.setOut(printed);
        System.setErr(printed);
        try {
            ConfigCommand.main(words);
        } catch (Ended e) {
            return e.code;
        } catch (Throwable e) {
            printed.println(e);
            return -1;
        }
        return 0;
    }
}
