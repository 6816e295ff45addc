package io.github.sealwax.mcp.internal.ledger;

import io.github.sealwax.mcp.internal.Failures;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.AsyncCloseable;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * One connection of Lettuce, which answers in the form of the core.
 *
 * @param whole what is to be closed with it
 */
public record RedisConnection(
    StatefulRedisConnection<String, String> connection, AsyncCloseable whole) {
  /** Sends a command; an error of the server is an answer too. */
  public CompletableFuture<Map<String, Object>> send(List<String> texts) {
    CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
    texts.subList(1, texts.size()).forEach(args::add);
    return connection
        .async()
        .dispatch(new Name(texts.get(0)), new Answer(), args)
        .toCompletableFuture()
        .handle(
            (found, failure) -> {
              Throwable cause = failure == null ? null : Failures.cause(failure);
              if (cause == null) {
                return found;
              }
              if (cause instanceof RedisCommandExecutionException) {
                return Map.of("error", String.valueOf(cause.getMessage()));
              }
              throw new CompletionException(cause);
            });
  }

  /** An answer in the form of the core: texts, also of lists in lists, a text, or a number. */
  private static final class Answer extends CommandOutput<String, String, Map<String, Object>> {
    private final List<String> texts = new ArrayList<>();

    Answer() {
      super(StringCodec.UTF8, Map.of("text", ""));
    }

    @Override
    public void multi(int count) {
      output = Map.of("texts", texts);
    }

    @Override
    public void set(ByteBuffer bytes) {
      String text = bytes == null ? "" : decodeString(bytes);
      set("text", text, text);
    }

    @Override
    public void set(long number) {
      set("number", number, Long.toString(number));
    }

    private void set(String form, Object alone, String text) {
      if (output.containsKey("texts")) {
        texts.add(text);
      } else {
        output = Map.of(form, alone);
      }
    }
  }

  private record Name(String text) implements ProtocolKeyword {
    @Override
    public byte[] getBytes() {
      return text.getBytes(StandardCharsets.US_ASCII);
    }
  }

  public boolean isOpen() {
    return connection.isOpen();
  }

  public void close() {
    // It may be broken; nobody waits for it.
    var unused = whole.closeAsync();
  }
}
