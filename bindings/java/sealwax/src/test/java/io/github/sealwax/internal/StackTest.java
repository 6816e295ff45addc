package io.github.sealwax.internal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.github.sealwax.Codec;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.RefusedException;
import io.github.sealwax.RequestContext;
import io.github.sealwax.Session;
import io.github.sealwax.View;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client's deep document on a thread with a small stack. */
class StackTest {
  private static Throwable run(int stack, Runnable body) throws InterruptedException {
    Throwable[] thrown = new Throwable[1];
    Thread thread = new Thread(null, body, "small", stack);
    thread.setUncaughtExceptionHandler((of, failure) -> thrown[0] = failure);
    thread.start();
    thread.join();
    return thrown[0];
  }

  /** Runs {@code body} that deep in the stack. */
  private static int descend(int depth, int until, Runnable body) {
    if (depth == until) {
      body.run();
      return 0;
    }
    return descend(depth + 1, until, body) + 1;
  }

  private static int frames(int depth) {
    try {
      return frames(depth + 1);
    } catch (StackOverflowError full) {
      return depth;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {136, 160, 192, 256, 512})
  void deepArgumentsAreReadOrRefused(int kilobytes) throws InterruptedException {
    Codec codec = Codec.of(KeyRing.of(Key.generate()), "a");
    View view = codec.view(Principal.anonymous());
    Session stays = view.sessions().open(view.sessions().create(new byte[1]).toMap());
    String fits = "[".repeat(99) + "]".repeat(99);
    String deep = "[".repeat(100_000);
    // Twice: interpreted code takes more of the stack than compiled code.
    for (int again = 0; again < 2; again++) {
      assertNull(
          run(
              kilobytes << 10,
              () -> RequestContext.ofJson("tools/call", "x", "{\"a\":" + fits + "}")));
      assertInstanceOf(
          InvalidArgumentException.class,
          run(
              kilobytes << 10,
              () -> RequestContext.ofJson("tools/call", "x", "{\"a\":" + deep + "}")));
      assertInstanceOf(
          RefusedException.class, run(kilobytes << 10, () -> view.sessions().openJson(deep)));
      assertInstanceOf(
          RefusedException.class,
          run(kilobytes << 10, () -> view.sessions().openJson("{\"a\":" + deep + "}")));
    }
    // The instances are the same still.
    view.sessions().renew(stays, new byte[2]);
  }

  @ParameterizedTest
  @ValueSource(ints = {136, 192, 512})
  void aDeepDocumentOfTheEngineIsRead(int kilobytes) throws InterruptedException {
    CodecObject codec = Access.codec(Codec.of(KeyRing.of(Key.generate()), "a"));
    Replicated guard =
        new Replicated(
            codec.library(),
            x -> {
              long place = x.room(x.pointerSize());
              x.call(Function.GUARD_NEW, codec.in(x), x.bytes("{}".getBytes(US_ASCII)), 2, place);
              return x.readWord(place);
            },
            Function.GUARD_FREE);
    // Code that is being compiled takes most: it comes after some thousand calls.
    for (int index = 0; index < 3000; index++) {
      message(codec.library(), guard, "[]");
    }
    String deep = "[".repeat(98) + "]".repeat(98);
    assertNull(run(kilobytes << 10, () -> message(codec.library(), guard, deep)));
  }

  private static void message(Library library, Replicated guard, String value) {
    byte[] document =
        ("{\"method\":\"tools/call\",\"target\":\"x\",\"meta\":{\"a\":" + value + "}}")
            .getBytes(US_ASCII);
    guard
        .cross(
            (x, address) -> {
              int size = x.pointerSize();
              long out = x.room(3 * size);
              x.call(
                  Function.GUARD_MESSAGE,
                  address,
                  x.bytes(document),
                  document.length,
                  0,
                  0,
                  out,
                  out + size,
                  out + 2 * size);
              return new Pinned(library, x, x.readWord(out), Function.EXCHANGE_FREE);
            })
        .close();
  }

  @Test
  void deepArgumentsAtTheEndOfAStack() throws InterruptedException {
    View view = Codec.of(KeyRing.of(Key.generate()), "a").view(Principal.anonymous());
    Session stays = view.sessions().open(view.sessions().create(new byte[1]).toMap());
    String fits = "[".repeat(99) + "]".repeat(99);
    Runnable call = () -> RequestContext.ofJson("tools/call", "x", "{\"a\":" + fits + "}");
    call.run();
    // Half of the stack is gone, and more and more of the other half.
    assertNull(
        run(
            512 << 10,
            () -> {
              int all = frames(0);
              for (int tenths = 5; tenths < 9; tenths++) {
                descend(0, all / 10 * tenths, call);
              }
            }));
    view.sessions().renew(stays, new byte[2]);
  }
}
