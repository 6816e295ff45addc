package io.github.sealwax.internal;

import java.util.HexFormat;
import java.util.List;

/**
 * What a ring of keys is made of, in any pooled instance: the texts or secrets, which stay on
 * Java's heap. A ring is made of these for as long as a call lasts.
 */
public final class Ring {
  private static final int IDS_MAX = 64;

  private final Source source;
  private final List<String> ids;

  private interface Source {
    /** Makes an object, and returns its address. */
    long make(Call call);
  }

  private Ring(Source source) {
    this.source = source;
    ids = Library.shared().call(x -> with(x, source, (call, ring) -> ids(call, ring)));
  }

  /** Returns the ring of a text, checked. */
  public static Ring parse(byte[] text) {
    return new Ring(x -> read(x, Function.RING_PARSE, text));
  }

  /** Returns the ring of what was read of a file; or of nothing, and why it was not read. */
  public static Ring ofFile(byte[] path, byte[] data, byte[] why) {
    return new Ring(
        x -> {
          long ring = x.room(x.pointerSize());
          x.withBytes(path).withBytes(data).withBytes(why).call(Function.RING_OF_FILE, ring);
          return x.readWord(ring);
        });
  }

  /** Returns the ring of variables of the environment; without ids if they name a file. */
  public static Ring ofVariables(byte[] variables) {
    return new Ring(x -> read(x, Function.RING_FROM_VARIABLES, variables));
  }

  /** Returns the ring of one key. */
  public static Ring of(Secret key) {
    return new Ring(x -> made(x, Function.RING_NEW, List.of(key::make), Function.KEY_FREE));
  }

  /** Returns the ring of the keys of rings, checked. */
  public static Ring join(List<Ring> rings) {
    List<Source> sources = rings.stream().map(ring -> ring.source).toList();
    return new Ring(x -> made(x, Function.RING_JOIN, sources, Function.RING_FREE));
  }

  private static long read(Call x, Function reader, byte[] text) {
    long ring = x.room(x.pointerSize());
    x.withBytes(text).call(reader, ring);
    return x.readWord(ring);
  }

  /** Makes a ring of objects, which are freed. */
  private static long made(Call x, Function maker, List<Source> parts, Function free) {
    int size = x.pointerSize();
    long[] made = new long[parts.size()];
    try {
      long array = x.room(size * made.length);
      for (int index = 0; index < made.length; index++) {
        made[index] = parts.get(index).make(x);
        x.writeWord(array + (long) size * index, made[index]);
      }
      long ring = x.room(size);
      x.call(maker, array, made.length, ring);
      return x.readWord(ring);
    } finally {
      for (long object : made) {
        x.plain(free, object);
      }
    }
  }

  /** Returns the ids of the keys, 8 hex digits each, the sealing one first. */
  public List<String> ids() {
    return ids;
  }

  /** Runs {@code body} with the ring in this call. */
  public <T> T with(Call call, ObjectFunction<T> body) {
    return with(call, source, body);
  }

  private static <T> T with(Call call, Source source, ObjectFunction<T> body) {
    long ring = source.make(call);
    try {
      return body.apply(call, ring);
    } finally {
      call.plain(Function.RING_FREE, ring);
    }
  }

  private static List<String> ids(Call x, long ring) {
    if (ring == 0) {
      return List.of();
    }
    Output out = x.output(IDS_MAX);
    x.with(ring).withOutput(out).call(Function.RING_IDS);
    String hex = HexFormat.of().formatHex(out.bytes());
    return java.util.stream.IntStream.range(0, hex.length() / 8)
        .mapToObj(index -> hex.substring(8 * index, 8 * index + 8))
        .toList();
  }
}
