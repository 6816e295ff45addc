package io.github.sealwax.mcp;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;

/** Tomcat on a free port, which gives all requests to one place. */
final class Container implements AutoCloseable {
  static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
          + "\"capabilities\":{\"sampling\":{},\"elicitation\":{}},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}";
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final Tomcat tomcat = new Tomcat();
  volatile Place place;

  /** Where requests go. */
  interface Place {
    void serve(HttpServletRequest request, HttpServletResponse response)
        throws ServletException, IOException;
  }

  Container() {
    Logger.getLogger("org.apache").setLevel(Level.WARNING);
    try {
      tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
      tomcat.setHostname("127.0.0.1");
      tomcat.setPort(0);
      StandardContext context = (StandardContext) tomcat.addContext("", null);
      // It looks for them where the tests do not let it.
      context.setClearReferencesRmiTargets(false);
      context.setClearReferencesThreadLocals(false);
      Wrapper all = Tomcat.addServlet(context, "all", new All());
      all.setAsyncSupported(true);
      all.addMapping("/*");
      tomcat.start();
      tomcat.getConnector();
    } catch (IOException | LifecycleException e) {
      throw new IllegalStateException(e);
    }
  }

  @SuppressWarnings("serial")
  private final class All extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
        throws ServletException, IOException {
      place.serve(request, response);
    }
  }

  int port() {
    return tomcat.getConnector().getLocalPort();
  }

  /** Begins a request to it. */
  HttpRequest.Builder request() {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + "/mcp"));
  }

  /** Sends it a message as a client does. */
  HttpResponse<String> post(String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        request()
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @Override
  public void close() {
    try {
      tomcat.stop();
      tomcat.destroy();
    } catch (LifecycleException e) {
      throw new IllegalStateException(e);
    }
  }
}
