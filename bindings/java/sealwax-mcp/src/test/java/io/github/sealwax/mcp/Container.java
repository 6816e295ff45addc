package io.github.sealwax.mcp;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;

/** Tomcat on a free port, which gives all requests to one place. */
final class Container implements AutoCloseable {
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
