package bench;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Sealwax in Java against its peers: a JSON object a line (benches/run.py says which).
 *
 * <p>{@code Bench LANGUAGE [quick]}
 */
public final class Bench {
  private static final int[] SIZES = {64, 256, 1024, 4096};
  private static final String LETTERS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

  /** HotSpot compiles what ran some ten thousand times. */
  private static final int WARM = 20_000;

  private final String language;
  private final long turn;
  private final int turns;

  private Bench(String language, boolean quick) {
    this.language = language;
    turn = quick ? 300_000 : 1_000_000;
    turns = quick ? 25 : 301;
  }

  private interface Call {
    Object run(String argument) throws Exception;
  }

  private record Side(Call call, String argument) {
    double turn(int calls) throws Exception {
      long begun = System.nanoTime();
      for (int index = 0; index < calls; index++) {
        if (call.run(argument) == null) {
          throw new IllegalStateException("nothing");
        }
      }
      return (double) (System.nanoTime() - begun) / calls;
    }
  }

  /**
   * Lets two sides work by turns, so that whatever the machine does hits both. Returns the medians
   * of nanoseconds for one call of each.
   */
  private double[] duel(Side... sides) throws Exception {
    double[][] times = new double[2][turns];
    int[] calls = new int[2];
    for (int side = 0; side < 2; side++) {
      sides[side].turn(WARM);
      calls[side] = (int) Math.max(1, turn / sides[side].turn(100));
    }
    for (int number = 0; number < turns; number++) {
      for (int place = 0; place < 2; place++) {
        int side = (number + place) % 2;
        times[side][number] = sides[side].turn(calls[side]);
      }
    }
    for (double[] each : times) {
      Arrays.sort(each);
    }
    return new double[] {times[0][turns / 2], times[1][turns / 2]};
  }

  private void show(int size, String op, Peer other, double[] medians, String ours, String theirs) {
    System.out.printf(
        Locale.ROOT,
        "{\"language\": \"%s\", \"size\": %d, \"op\": \"%s\", \"ours_ns\": %s, \"peer\": \"%s\", \"peer_ns\": %s,"
            + " \"ratio\": %s, \"ours_length\": %d, \"peer_length\": %d}%n",
        language,
        size,
        op,
        medians[0],
        other.name(),
        medians[1],
        medians[1] / medians[0],
        ours.length(),
        theirs.length());
  }

  private void against(Ours mine, Peer other, String payload) throws Exception {
    String ours = mine.seal(payload);
    String theirs = other.seal(payload);
    if (!mine.open(ours).equals(payload) || !other.open(theirs).equals(payload)) {
      throw new IllegalStateException(other.name() + " does not open what it sealed");
    }
    boolean request = other instanceof Ours;
    double[] seal =
        duel(
            new Side(request ? mine::sealRequest : mine::seal, payload),
            new Side(other::seal, payload));
    show(payload.length(), request ? "request-seal" : "seal", other, seal, ours, theirs);
    double[] open =
        duel(
            new Side(request ? mine::openRequest : mine::open, ours),
            new Side(other::open, theirs));
    show(payload.length(), request ? "request-open" : "open", other, open, ours, theirs);
  }

  /**
   * What a request costs beside its tokens: its context, of arguments in either order, and the
   * view.
   */
  private void parts() throws Exception {
    double[] contexts =
        duel(new Side(Ours::context, Ours.SORTED), new Side(Ours::context, Ours.ARGUMENTS));
    double[] views = duel(view(new Ours(1)), view(new Ours(3)));
    System.out.printf(
        Locale.ROOT,
        "{\"language\": \"%s\", \"parts\": {\"context\": %.1f, \"context-unsorted\": %.1f, \"view\": %.1f,"
            + " \"view-3-keys\": %.1f}}%n",
        language,
        contexts[0],
        contexts[1],
        views[0],
        views[1]);
  }

  private static Side view(Ours ours) {
    return new Side(
        argument -> {
          ours.view().close();
          return argument;
        },
        "");
  }

  private static String text(int size) {
    Random drawn = new Random(size);
    StringBuilder made = new StringBuilder();
    for (int index = 0; index < size; index++) {
      made.append(LETTERS.charAt(drawn.nextInt(LETTERS.length())));
    }
    return made.toString();
  }

  /** Runs it. */
  public static void main(String[] arguments) throws Exception {
    Bench bench = new Bench(arguments[0], List.of(arguments).contains("quick"));
    Ours mine = new Ours(1);
    for (int size : SIZES) {
      String payload = text(size);
      for (Peer other : Peers.all()) {
        bench.against(mine, other, payload);
      }
      bench.against(mine, new Ours(1), payload);
    }
    bench.parts();
  }
}
