import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.util.Arrays;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Runs test classes without Maven, which takes longer to begin than they do. */
final class JUnit {
  private JUnit() {}

  /** Arguments: the names of the classes. */
  public static void main(String[] arguments) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(
                Arrays.stream(arguments)
                    .map(name -> selectClass("io.github.sealwax.mcp." + name))
                    .toArray(DiscoverySelector[]::new))
            .filters(EngineFilter.includeEngines("junit-jupiter"))
            .build();
    SummaryGeneratingListener found = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, found);
    found.getSummary().printTo(new PrintWriter(System.out, true));
    found.getSummary().printFailuresTo(new PrintWriter(System.out, true), 5);
    // Threads that a test left must not keep it.
    boolean passed =
        found.getSummary().getTotalFailureCount() == 0
            && found.getSummary().getTestsSucceededCount() > 0;
    System.exit(passed ? 0 : 1);
  }
}
