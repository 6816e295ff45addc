package io.github.sealwax.mcp.internal.ledger;

import io.github.sealwax.mcp.internal.Failures;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.AsyncCloseable;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** One connection of Lettuce, which answers in the form of the core. */
public final class RedisConnection {
  private final StatefulRedisConnection<String, String> connection;
  private final AsyncCloseable whole;

  /** Takes a connection, and what is to be closed with it. */
  public RedisConnection(StatefulRedisConnection<String, String> connection, AsyncCloseable whole) {
    this.connection = connection;
    this.whole = whole;
  }

  /** Sends a command; an error of the server is an answer too. */
  public CompletableFuture<Map<String, Object>> send(List<String> texts) {
    CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
    texts.subList(1, texts.size()).forEach(args::add);
    AsyncCommand<String, String, Map<String, Object>> command =
        new AsyncCommand<>(new Command<>(new Name(texts.get(0)), new Answer(), args));
    connection.dispatch(command);
    return command
        .toCompletableFuture()
        .handle(
            (found, failure) -> {
              if (failure == null) {
                return found;
              }
              Throwable cause = Failures.cause(failure);
              if (cause instanceof RedisCommandExecutionException) {
                return Map.of("error", String.valueOf(cause.getMessage()));
              }
              throw new java.util.concurrent.CompletionException(cause);
            });
  }

  /** An answer in the form of the core: texts, a text, or a number. */
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
      if (output.containsKey("texts")) {
        texts.add(text);
      } else {
        output = Map.of("text", text);
      }
    }

    @Override
    public void set(long number) {
      if (output.containsKey("texts")) {
        texts.add(Long.toString(number));
      } else {
        output = Map.of("number", number);
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
