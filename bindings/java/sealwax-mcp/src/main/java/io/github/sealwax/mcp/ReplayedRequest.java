package io.github.sealwax.mcp;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A request with its body once more, and with headers that it lacked. */
final class ReplayedRequest extends HttpServletRequestWrapper {
  private final byte @Nullable [] body;
  private final Map<String, String> added;

  ReplayedRequest(HttpServletRequest request, byte @Nullable [] body, Map<String, String> added) {
    super(request);
    this.body = body;
    this.added = added;
  }

  @Override
  public ServletInputStream getInputStream() throws IOException {
    return body == null ? super.getInputStream() : new Replay(new ByteArrayInputStream(body));
  }

  @Override
  public BufferedReader getReader() throws IOException {
    return body == null
        ? super.getReader()
        : new BufferedReader(new InputStreamReader(getInputStream(), StandardCharsets.UTF_8));
  }

  @Override
  public int getContentLength() {
    return body == null ? super.getContentLength() : body.length;
  }

  @Override
  public long getContentLengthLong() {
    return body == null ? super.getContentLengthLong() : body.length;
  }

  @Override
  public @Nullable String getHeader(String name) {
    String mine = mine(name);
    return mine == null ? super.getHeader(name) : mine;
  }

  @Override
  public Enumeration<String> getHeaders(String name) {
    String mine = mine(name);
    return mine == null ? super.getHeaders(name) : Collections.enumeration(List.of(mine));
  }

  @Override
  public Enumeration<String> getHeaderNames() {
    Set<String> names = new LinkedHashSet<>(Collections.list(super.getHeaderNames()));
    names.addAll(added.keySet());
    return Collections.enumeration(names);
  }

  private @Nullable String mine(String name) {
    for (Map.Entry<String, String> header : added.entrySet()) {
      if (header.getKey().equalsIgnoreCase(name)) {
        return header.getValue();
      }
    }
    return null;
  }

  private static final class Replay extends ServletInputStream {
    private final ByteArrayInputStream body;

    Replay(ByteArrayInputStream body) {
      this.body = body;
    }

    @Override
    public int read() {
      return body.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
      return body.read(bytes, offset, length);
    }

    @Override
    public boolean isFinished() {
      return body.available() == 0;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {
      // It is all there.
      try {
        listener.onDataAvailable();
        listener.onAllDataRead();
      } catch (IOException e) {
        listener.onError(e);
      }
    }
  }
}
