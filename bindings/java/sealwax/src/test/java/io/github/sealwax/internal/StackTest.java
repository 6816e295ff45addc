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
import java.util.List;
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

  private static void argument(String value) {
    RequestContext.ofJson("tools/call", "x", "{\"a\":" + value + "}");
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
      assertNull(run(kilobytes << 10, () -> argument(fits)));
      assertInstanceOf(InvalidArgumentException.class, run(kilobytes << 10, () -> argument(deep)));
      for (String session : List.of(deep, "{\"a\":" + deep + "}")) {
        assertInstanceOf(
            RefusedException.class, run(kilobytes << 10, () -> view.sessions().openJson(session)));
      }
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
    guard.call((x, address) -> Machine.begin(library, x, address, frame)).machine().close();
  }
}
