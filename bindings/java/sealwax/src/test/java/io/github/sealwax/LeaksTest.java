package io.github.sealwax;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.Instance;
import io.github.sealwax.internal.Library;
import io.github.sealwax.internal.portable.PortableProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Nothing leaks: whatever is made and freed leaves an instance as large as it was. */
class LeaksTest {
  private final List<Instance> instances = new CopyOnWriteArrayList<>();
  private final Library library =
      Library.of(
          () -> {
            Instance made = new PortableProvider().instantiate();
            instances.add(made);
            return made;
          },
          1);
  private final Codec codec =
      Access.build(Codec.builder("a").keys(KeyRing.of(Key.generate())), library);

  /** An instance grows when its memory is full: an address far behind tells how full it is. */
  private long end() {
    Instance instance = instances.get(0);
    List<Long> taken = new ArrayList<>();
    for (int index = 0; index < 16; index++) {
      taken.add(instance.allocate(1024));
    }
    long highest = taken.stream().mapToLong(Long::longValue).max().orElseThrow();
    taken.forEach(address -> instance.free(address, 1024));
    return highest;
  }

  private void check(int times, Runnable body) {
    for (int index = 0; index < Math.min(times, 1000); index++) {
      body.run();
    }
    long before = end();
    for (int index = 0; index < times; index++) {
      body.run();
    }
    assertTrue(end() - before < 1 << 15, "from " + before + " to " + end());
  }

  @Test
  void viewsSessionsAndFailures() {
    View view = codec.view(Principal.subject("alice"));
    check(
        5_000,
        () -> {
          codec.view(Principal.subject("alice")).close();
          view.sessions().open(view.sessions().create(new byte[100]).toMap()).pinned.close();
          try {
            view.session().open("sw1.x");
          } catch (RefusedException refused) {
            view.session().seal(new byte[1]);
          }
        });
  }

  @Test
  void whatIsCollectedIsFreed() throws InterruptedException {
    long[] before = new long[1];
    for (int round = 0; round < 20; round++) {
      for (int index = 0; index < 500; index++) {
        codec.view(Principal.subject("alice"));
      }
      System.gc();
      Thread.sleep(20);
      codec.view(Principal.subject("alice")).close();
      if (round == 10) {
        before[0] = end();
      }
    }
    // Not collected, 4,500 views would take some 4 MB.
    assertTrue(end() - before[0] < 1 << 21, "from " + before[0] + " to " + end());
  }

  @Test
  void largeRequestsLeaveNothing() {
    View view =
        Access.build(
                Codec.builder("a").keys(KeyRing.of(Key.generate())).payloadLimit(1 << 20), library)
            .view(Principal.anonymous());
    check(30, () -> view.session().open(view.session().seal(new byte[1 << 20])));
  }
}
