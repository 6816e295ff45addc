package io.github.sealwax.mcp.internal.transport;

import io.modelcontextprotocol.spec.HttpHeaders;
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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A request with its body once more, or another one, and with the version that it lacked. */
final class ReplayedRequest extends HttpServletRequestWrapper {
  private static final String LENGTH = "Content-Length";

  private final byte @Nullable [] body;
  private final Map<String, String> mine = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  ReplayedRequest(
      HttpServletRequest request, byte @Nullable [] body, @Nullable String addedVersion) {
    super(request);
    this.body = body;
    if (addedVersion != null) {
      mine.put(HttpHeaders.PROTOCOL_VERSION, addedVersion);
    }
    if (body != null && request.getHeader(LENGTH) != null) {
      mine.put(LENGTH, Integer.toString(body.length));
    }
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
    String value = mine.get(name);
    return value == null ? super.getHeader(name) : value;
  }

  @Override
  public int getIntHeader(String name) {
    String value = mine.get(name);
    return value == null ? super.getIntHeader(name) : Integer.parseInt(value);
  }

  @Override
  public Enumeration<String> getHeaders(String name) {
    String value = mine.get(name);
    return value == null ? super.getHeaders(name) : Collections.enumeration(List.of(value));
  }

  @Override
  public Enumeration<String> getHeaderNames() {
    Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    names.addAll(Collections.list(super.getHeaderNames()));
    names.addAll(mine.keySet());
    return Collections.enumeration(names);
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
