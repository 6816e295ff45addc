package io.github.sealwax.mcp.internal.transport;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A response whose body is held back until it was read. */
final class HeldResponse extends HttpServletResponseWrapper {
  private final ByteArrayOutputStream held = new ByteArrayOutputStream();
  private @Nullable PrintWriter writer;

  HeldResponse(HttpServletResponse response) {
    super(response);
  }

  byte[] body() {
    if (writer != null) {
      writer.flush();
    }
    return held.toByteArray();
  }

  /** Sends the headers, and this body. */
  void release(byte[] body) throws IOException {
    if (getResponse().isCommitted()) {
      // An error page of the container.
      return;
    }
    getResponse().setContentLength(body.length);
    getResponse().getOutputStream().write(body);
  }

  @Override
  public ServletOutputStream getOutputStream() {
    return new ServletOutputStream() {
      @Override
      public void write(int one) {
        held.write(one);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) {
        held.write(bytes, offset, length);
      }

      @Override
      public boolean isReady() {
        return true;
      }

      @Override
      public void setWriteListener(WriteListener listener) {
        throw new IllegalStateException("expected a server that answers at once");
      }
    };
  }

  @Override
  public PrintWriter getWriter() {
    if (writer == null) {
      writer = new PrintWriter(new OutputStreamWriter(held, StandardCharsets.UTF_8));
    }
    return writer;
  }

  @Override
  public void setContentLength(int length) {
    // It may change.
  }

  @Override
  public void setContentLengthLong(long length) {
    // It may change.
  }

  @Override
  public void flushBuffer() {
    // Nothing leaves yet.
  }

  @Override
  public void reset() {
    super.reset();
    resetBuffer();
  }

  @Override
  public void resetBuffer() {
    held.reset();
    writer = null;
  }
}
