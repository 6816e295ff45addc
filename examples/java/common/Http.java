package common;

import io.github.sealwax.Principal;
import io.github.sealwax.mcp.Guard;
import io.github.sealwax.mcp.RedisLedger;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpTransportContextExtractor;
import io.modelcontextprotocol.server.transport.ServerHttpHeaderValidator;
import io.modelcontextprotocol.server.transport.ServerTransportSecurityException;
import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** What both examples take from their environment, and Tomcat in front of a server. */
public final class Http {
  private static final String SECRET = System.getenv("NOTES_JWT_SECRET");
  private static final String LEDGER = System.getenv("SEALWAX_LEDGER");
  private static final String PORT = System.getenv("PORT");

  /** Gives handlers and the guard the user of a request. */
  public static final McpTransportContextExtractor<HttpServletRequest> USER =
      request ->
          request.getAttribute(Bearer.PRINCIPAL) instanceof Principal user
              ? McpTransportContext.create(Map.of(Bearer.PRINCIPAL, user))
              : McpTransportContext.EMPTY;

  /** Refuses what a website sends here by a name of its own (DNS rebinding). */
  public static final ServerHttpHeaderValidator LOCAL =
      headers -> {
        if (!headers.getHeader("Host").stream().allMatch(host -> host.matches("(localhost|127\\.0\\.0\\.1)(:\\d+)?"))) {
          throw new ServerTransportSecurityException(421, "Misdirected Request");
        }
      };

  private Http() {}

  /** Returns whether to serve HTTP; otherwise it is stdio. */
  public static boolean isWanted() {
    return PORT != null;
  }

  /** Sets the caller and the ledger of a guard. */
  public static Guard.Builder configured(Guard.Builder guard) {
    if (LEDGER != null) {
      guard.ledger(new RedisLedger(LEDGER));
    }
    return SECRET != null && isWanted()
        ? guard.principal(context -> (Principal) context.get(Bearer.PRINCIPAL))
        : guard.anonymous();
  }

  /** Serves a servlet behind filters, the authentication first. */
  public static void serve(Servlet servlet, String audience, Filter... filters)
      throws IOException, LifecycleException {
    Logger.getLogger("org.apache").setLevel(Level.WARNING);
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
    tomcat.setHostname("127.0.0.1");
    tomcat.setPort(Integer.parseInt(PORT));
    // Otherwise Tomcat listens on every address of the machine.
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    Context context = tomcat.addContext("", null);
    Wrapper mcp = Tomcat.addServlet(context, "mcp", servlet);
    mcp.setAsyncSupported(true);
    mcp.addMapping("/mcp");
    if (SECRET != null) {
      add(context, new Bearer(SECRET, audience));
    }
    List.of(filters).forEach(filter -> add(context, filter));
    tomcat.start();
    System.err.printf("listening on http://127.0.0.1:%d/mcp%n", tomcat.getConnector().getLocalPort());
    tomcat.getServer().await();
  }

  private static void add(Context context, Filter filter) {
    FilterDef definition = new FilterDef();
    definition.setFilterName(filter.getClass().getName());
    definition.setFilter(filter);
    definition.setAsyncSupported("true");
    context.addFilterDef(definition);
    FilterMap map = new FilterMap();
    map.setFilterName(definition.getFilterName());
    map.addURLPattern("/mcp");
    context.addFilterMap(map);
  }
}
