package io.github.sealwax.mcp;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A way to a port of this machine on which what is sent takes some time in each direction. */
final class FarAway implements AutoCloseable {
  private static final InetAddress HERE = InetAddress.getLoopbackAddress();

  private final ServerSocket listener = new ServerSocket(0, 50, HERE);
  private final long each;

  FarAway(int port, long eachWayMs) throws IOException {
    each = eachWayMs;
    work(
        () -> {
          while (true) {
            Socket near = listener.accept();
            Socket far = new Socket(HERE, port);
            near.setTcpNoDelay(true);
            far.setTcpNoDelay(true);
            work(() -> carry(near, far));
            work(() -> carry(far, near));
          }
        });
  }

  int port() {
    return listener.getLocalPort();
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private static void work(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException | InterruptedException e) {
                // It is closed, on one side and then on the other.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  private void carry(Socket from, Socket to) throws IOException, InterruptedException {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[1 << 16];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        Thread.sleep(each);
        out.write(buffer, 0, read);
        out.flush();
      }
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
