package io.github.sealwax.mcp;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A way to a port of this machine on which each byte takes some time in each direction. */
final class FarAway implements AutoCloseable {
  private final ServerSocket listener;
  private final int port;
  private final long each;

  FarAway(int port, long eachWayMs) {
    this.port = port;
    this.each = eachWayMs;
    try {
      listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    daemon(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  private static void daemon(Runnable work) {
    Thread thread = new Thread(work, "far-away");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket near = listener.accept();
        Socket far = new Socket(InetAddress.getLoopbackAddress(), port);
        near.setTcpNoDelay(true);
        far.setTcpNoDelay(true);
        daemon(() -> carry(near, far));
        daemon(() -> carry(far, near));
      }
    } catch (IOException e) {
      // It is closed.
    }
  }

  private void carry(Socket from, Socket to) {
    ScheduledExecutorService late = Executors.newSingleThreadScheduledExecutor();
    try (from) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[1 << 16];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        byte[] bytes = java.util.Arrays.copyOf(buffer, read);
        var unused =
            late.schedule(
                () -> {
                  out.write(bytes);
                  out.flush();
                  return null;
                },
                each,
                TimeUnit.MILLISECONDS);
      }
    } catch (IOException e) {
      // One side is closed, and the other one then.
    } finally {
      late.shutdown();
      try {
        to.close();
      } catch (IOException e) {
        // It was closed.
      }
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
