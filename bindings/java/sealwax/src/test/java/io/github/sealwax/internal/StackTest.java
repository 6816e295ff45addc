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

  /** Runs {@code body} that deep in the stack, and notes how deep it came. */
  private static int descend(int depth, int until, Runnable body, int[] deepest) {
    deepest[0] = depth;
    if (depth == until) {
      body.run();
      return 0;
    }
    return descend(depth + 1, until, body, deepest) + 1;
  }

  /**
   * Returns how deep {@link #descend} comes. Another function would not do: whichever of the two is
   * compiled first takes less of the stack than the other.
   */
  private static int frames(int[] deepest) {
    try {
      return descend(0, Integer.MAX_VALUE, () -> {}, deepest);
    } catch (StackOverflowError full) {
      return deepest[0];
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
    Frame settings = new Frame(Frame.GUARD, "{\"transport\":{}}".getBytes(US_ASCII));
    Replicated guard =
        new Replicated(
            codec.library(),
            x -> x.readWord(Machine.make(x, codec.in(x), 0, settings)),
            Function.MACHINE_FREE);
    // Code that is being compiled takes most: it comes after some thousand calls.
    for (int index = 0; index < 3000; index++) {
      report(codec.library(), guard, "[]");
    }
    String deep = "[".repeat(98) + "]".repeat(98);
    assertNull(run(kilobytes << 10, () -> report(codec.library(), guard, deep)));
  }

  private static void report(Library library, Replicated guard, String value) {
    String fault = "{\"code\":\"expired\",\"kind\":\"session\",\"message\":\"x\",\"meta\":";
    Frame frame = new Frame(Frame.REPORT, (fault + value + "}").getBytes(US_ASCII));
    guard.cross((x, address) -> Machine.begin(library, x, address, frame)).machine().close();
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
              int[] deepest = new int[1];
              int all = frames(deepest);
              for (int tenths = 5; tenths < 9; tenths++) {
                descend(0, all / 10 * tenths, call, deepest);
              }
            }));
    view.sessions().renew(stays, new byte[2]);
  }
}
