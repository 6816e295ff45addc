package io.github.sealwax;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Any number of threads share a codec and its views, virtual threads too. */
class ThreadsTest {
  private final Codec codec = Codec.of(KeyRing.of(Key.generate()), "a");

  private static <T> List<T> all(ExecutorService threads, int count, Callable<T> task)
      throws Exception {
    try {
      List<T> found = new ArrayList<>();
      for (Future<T> each : threads.invokeAll(Collections.nCopies(count, task))) {
        found.add(each.get());
      }
      return found;
    } finally {
      threads.shutdown();
    }
  }

  /** On Java 21 and later, virtual threads. */
  private static ExecutorService lightThreads() throws ReflectiveOperationException {
    return Runtime.version().feature() < 21
        ? Executors.newCachedThreadPool()
        : (ExecutorService)
            Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
  }

  @Test
  void threadsShareAViewAndNoTwoTokensAreAlike() throws Exception {
    View shared = codec.view(Principal.subject("alice"));
    int count = 4_000;
    List<String> ids =
        all(
            lightThreads(),
            count,
            () -> {
              byte[] payload = {1, 2, 3};
              String token = shared.cursor("tools/list").seal(payload);
              try (View own = codec.view(Principal.subject("alice"))) {
                assertArrayEquals(payload, own.cursor("tools/list").open(token).payload());
              }
              Sessions sessions = shared.sessions();
              sessions.renew(sessions.open(sessions.create(payload).toMap()), payload);
              return ((Inspected.Token) Inspected.of(token)).tokenId();
            });
    assertEquals(count, ids.stream().distinct().count());
  }

  @Test
  void keysChangeForAllThreads() throws Exception {
    Key stays = Key.generate();
    Codec changing = Codec.of(KeyRing.of(stays), "a");
    CompletableFuture<Void> changes =
        CompletableFuture.runAsync(
            () -> {
              for (int index = 0; index < 50; index++) {
                assertTrue(changing.setKeys(KeyRing.of(Key.generate(), stays)));
                assertTrue(changing.setKeys(KeyRing.of(stays, Key.generate())));
              }
            });
    all(
        Executors.newFixedThreadPool(4),
        4,
        () -> {
          while (!changes.isDone()) {
            // A view keeps its keys, in whichever pooled instance it is used.
            View view = changing.view(Principal.anonymous());
            for (int again = 0; again < 5; again++) {
              view.session().open(view.session().seal(new byte[1]));
            }
          }
          return null;
        });
    changes.join();
  }

  @Test
  void anInterruptedThreadGoesOn() throws Exception {
    View view = codec.view(Principal.anonymous());
    Session session = view.sessions().open(view.sessions().create(new byte[1]).toMap());
    String token = view.session().seal(new byte[4096]);
    AtomicBoolean done = new AtomicBoolean();
    Thread busy =
        new Thread(
            () -> {
              while (!done.get()) {
                view.session().open(token);
              }
            });
    busy.start();
    Thread.currentThread().interrupt();
    for (int index = 0; index < 200; index++) {
      busy.interrupt();
      // The instance is the same one still.
      view.sessions().renew(session, new byte[2]);
    }
    assertTrue(Thread.interrupted());
    done.set(true);
    busy.join();
    view.sessions().renew(session, new byte[2]);
  }
}
