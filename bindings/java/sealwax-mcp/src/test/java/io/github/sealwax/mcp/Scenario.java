package io.github.sealwax.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.sealwax.mcp.internal.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Map;

/**
 * The scenario server of this language: tests/driver/run.py says what it is told, and what it says.
 *
 * <p>The SDK knows nothing of revision 2026-07-28, but its transport carries any message: {@code
 * hooks} has a handler of any method on it, in place of the SDK's server that {@code sdk} has.
 */
final class Scenario {
  private final Container container = new Container();
  private Stage stage;

  private Scenario() {}

  public static void main(String[] arguments) throws IOException {
    Scenario scenario = new Scenario();
    int port = scenario.container.port();
    List<String> systems = List.of("hooks", "sdk");
    Map<String, Object> legacy = Map.of("sdk", "2025-11-25");
    Channel.say(Map.of("http", port, "systems", systems, "legacy", legacy, "events", true));
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Map<String, Object> told = Json.object(line);
      if (told.containsKey("to")) {
        Channel.tell(told.get("to"), told);
      } else {
        Channel.say("done", scenario.done(told));
      }
    }
    // Handlers may wait still.
    System.exit(0);
  }

  private Object done(Map<String, Object> told) {
    switch ((String) told.get("do")) {
      case "serve" -> {
        if (stage != null) {
          stage.close();
        }
        stage = new Stage(told);
        container.place = stage::serve;
      }
      case "at" -> stage.at(told);
      case "revoke" -> {
        return stage.revoke(Values.object(told.get("whom")));
      }
      // Whatever was answered has been served, notifications too.
      case "settle" -> {}
      default -> throw new IllegalArgumentException(told.toString());
    }
    return null;
  }
}
