package io.github.sealwax.internal;

/**
 * A machine of the ABI in one pooled instance: an exchange, a store machine, a ledger in memory. To
 * close it cancels an exchange at any step. A guard is in every pooled instance, as a {@link
 * Replicated}.
 */
public final class Machine extends Pinned {
  private Machine(Library library, Call x, long made) {
    super(library, x, x.readWord(made), Function.MACHINE_FREE);
  }

  /** A new machine, and what it says first. */
  public record Begun(Machine machine, Frame.Answer answer) {}

  /** Makes one that has no parent. */
  public static Begun begin(Library library, Frame frame) {
    return library.call(x -> begin(library, x, 0, frame));
  }

  /** Makes one of a parent in this call's pooled instance. */
  public static Begun begin(Library library, Call x, long parent, Frame frame) {
    long made = make(x, 0, parent, frame);
    return new Begun(new Machine(library, x, made), Frame.Answer.made(x, made));
  }

  /** Makes one of which this is the parent. */
  public Begun begin(Frame frame) {
    return call((x, address) -> begin(library, x, address, frame));
  }

  /** Makes one in this call's pooled instance; returns where its address and its answer are. */
  public static long make(Call x, long codec, long parent, Frame frame) {
    return frame.addTo(x.with(codec, parent)).callFor(Function.MACHINE_NEW, 3);
  }

  /** Tells it something, and returns what it says. */
  public Frame.Answer on(Frame frame) {
    return call(
        (x, address) ->
            Frame.Answer.read(x, frame.addTo(x.with(address)).callFor(Function.MACHINE_ON, 2)));
  }
}
