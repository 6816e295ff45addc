package io.github.sealwax;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program of the README, as it stands there. */
class ReadmeTest {
  private static final Pattern PROGRAM =
      Pattern.compile("```java\n(import[^`]*class Pages [^`]*)```");

  @TempDir Path folder;

  @Test
  void theProgramPrintsWhatIsSaid() throws IOException, InterruptedException {
    Path readme = Path.of(System.getProperty("repository"), "bindings/java/README.md");
    Matcher program = PROGRAM.matcher(Files.readString(readme));
    assertTrue(program.find());
    Path source = Files.writeString(folder.resolve("Pages.java"), program.group(1));
    ProcessBuilder java =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin/java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            source.toString());
    java.environment().put("SEALWAX_KEYS", Key.generate().toText());
    java.environment().remove("SEALWAX_KEYS_FILE");
    Process process = java.redirectErrorStream(true).start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    assertEquals(
        """
        page 2
        principal_mismatch
        {"error":{"code":-32602,"message":"Invalid cursor"}}
        """,
        printed);
  }
}
