import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.message.MessageGenerator;

/**
 * Runs Kafka's message generator on one directory after the other, for compare_generator.py.
 *
 * Reads lines of a directory and, after tabs, the generators of its types. Writes a line for each: "accept", or
 * "reject", a tab and why. The argument is a directory for the Java that is generated.
 */
public final class Verdicts {
    private static final List<String> CLASSES = List.of("MessageDataGenerator", "JsonConverterGenerator");

    public static void main(String[] arguments) throws IOException {
        PrintStream verdicts = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream())); // the generator counts its files there
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            List<String> words = List.of(line.split("\t"));
            try {
                List<String> types = words.subList(1, words.size());
                MessageGenerator.processDirectories("generated", arguments[0], words.get(0), types, CLASSES);
                verdicts.println("accept");
            } catch (Exception | StackOverflowError error) {
                verdicts.println("reject\t" + reason(error));
            }
        }
    }

    private static String reason(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.toString().lines().findFirst().orElse("");
    }
}
