package io.github.sealwax.internal;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Machine} is told: a kind, flags, and texts, {@code null} for one that is absent.
 * What is no UTF-8 is a client's value that is no text. docs/engine.md has the form of a frame, and
 * what each kind holds.
 */
@SuppressWarnings("ArrayRecordComponent") // It is written once, and compared with nothing.
public record Frame(int kind, int flags, byte @Nullable []... texts) {
  // What makes a machine.
  public static final int GUARD = 1;
  public static final int MESSAGE = 2;
  public static final int REVOCATION = 4;
  public static final int REPORT = 5;
  public static final int HANDLE = 6;
  public static final int STORE = 7;
  public static final int STORE_MACHINE = 8;
  public static final int MEMORY = 9;
  public static final int HTTP = 11;

  // What one is told.
  public static final int EVENT = 16;
  public static final int RESULT = 17;
  public static final int SEAL_STATE = 19;
  public static final int IDEMPOTENCY_KEY = 24;
  public static final int WRITE = 20;
  public static final int FORK = 21;
  public static final int RUN = 22;
  public static final int TOLD = 23;
  public static final int BODY = 25;
  public static final int ANSWER = 26;
  public static final int PIECE = 27;
  public static final int ANSWERED = 28;

  // Answers that are no documents.
  public static final int DELIVER = 33;
  public static final int RESPOND = 34;

  // Flags.
  public static final int NOTIFICATION = 1;
  public static final int MODERN = 2;
  public static final int SESSION = 4;
  public static final int CALLER = 8;
  public static final int ANONYMOUS = 16;
  public static final int TTL = 32;
  public static final int WAITS = 64;
  public static final int DEFERS = 128;
  public static final int CAN_BE_ASKED = 1024;
  public static final int TOO_LARGE = 2048;
  public static final int CHANGES = 4096;

  private static final long HEAD = 4;
  private static final long LENGTH = 4;
  private static final int ABSENT = -1;

  /** A frame without flags. */
  public Frame(int kind, byte @Nullable []... texts) {
    this(kind, 0, texts);
  }

  /** Writes it, and adds it to the arguments of the next call. */
  Call addTo(Call x) {
    long size = HEAD + LENGTH * texts.length;
    for (byte[] text : texts) {
      size += text == null ? 0 : text.length;
    }
    long frame = x.room(Math.toIntExact(size));
    x.writeInt(frame, kind | texts.length << 8 | flags << 16);
    long length = frame + HEAD;
    long next = length + LENGTH * texts.length;
    for (byte[] text : texts) {
      x.writeInt(length, text == null ? ABSENT : text.length);
      length += LENGTH;
      if (text != null) {
        x.write(next, text);
        next += text.length;
      }
    }
    return x.with(frame, size);
  }

  /** What a machine answers: a text, and the bytes beside it. */
  @SuppressWarnings("ArrayRecordComponent") // It is read once, and compared with nothing.
  public record Answer(int kind, int flags, @Nullable String text, byte @Nullable [] bytes) {
    /** Reads that of a machine which was made. */
    public static Answer made(Call x, long made) {
      return read(x, made + 8);
    }

    /** Reads the one whose address and size are at {@code place}. */
    static Answer read(Call x, long place) {
      long frame = x.readWord(place);
      int head = x.readInt(frame);
      int count = head >>> 8 & 0xFF;
      byte @Nullable [][] texts = new byte[2][];
      long next = frame + HEAD + LENGTH * count;
      for (int index = 0; index < count; index++) {
        int length = x.readInt(frame + HEAD + LENGTH * index);
        if (length >= 0) {
          texts[index] = x.read(next, length);
          next += length;
        }
      }
      String text = texts[0] == null ? null : new String(texts[0], StandardCharsets.UTF_8);
      return new Answer(head & 0xFF, head >>> 16, text, texts[1]);
    }

    /** Returns whether it has a flag. */
    public boolean has(int flag) {
      return (flags & flag) != 0;
    }
  }
}
