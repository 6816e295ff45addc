package io.github.sealwax.internal.portable;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import run.endive.runtime.Instance;
import run.endive.runtime.Memory;

/**
 * ChaCha20-Poly1305 (RFC 8439) by the Java runtime, for one instance. The module gives a key for one
 * token, and encrypts in place.
 */
final class HostCipher {
  private static final String NAME = "ChaCha20-Poly1305";
  private static final int KEY = 32;
  private static final int NONCE = 12;
  private static final int TAG = 16;
  private static final long[] DONE = {0};
  private static final long[] REFUSED = {1};

  private @Nullable Cipher cipher;

  long[] seal(Instance instance, long... in) {
    Memory memory = instance.memory();
    int body = (int) in[4];
    int length = (int) in[5];
    byte[] sealed = run(Cipher.ENCRYPT_MODE, memory, in, memory.readBytes(body, length));
    if (sealed == null) {
      return REFUSED;
    }
    memory.write(body, sealed, 0, length);
    memory.write((int) in[6], sealed, length, TAG);
    return DONE;
  }

  long[] open(Instance instance, long... in) {
    Memory memory = instance.memory();
    int body = (int) in[4];
    int length = (int) in[5];
    byte[] sealed = Arrays.copyOf(memory.readBytes(body, length), length + TAG);
    System.arraycopy(memory.readBytes((int) in[6], TAG), 0, sealed, length, TAG);
    byte[] opened = run(Cipher.DECRYPT_MODE, memory, in, sealed);
    if (opened == null) {
      return REFUSED;
    }
    memory.write(body, opened);
    return DONE;
  }

  private byte @Nullable [] run(int mode, Memory memory, long[] in, byte[] text) {
    SecretKeySpec key = new SecretKeySpec(memory.readBytes((int) in[0], KEY), "ChaCha20");
    IvParameterSpec nonce = new IvParameterSpec(memory.readBytes((int) in[1], NONCE));
    try {
      Cipher begun = begin(mode, key, nonce);
      begun.updateAAD(memory.readBytes((int) in[2], (int) in[3]));
      return begun.doFinal(text);
    } catch (AEADBadTagException wrong) {
      return null;
    } catch (GeneralSecurityException fault) {
      throw new IllegalStateException(NAME + ": " + fault.getMessage(), fault);
    }
  }

  private Cipher begin(int mode, SecretKeySpec key, IvParameterSpec nonce) throws GeneralSecurityException {
    Cipher used = cipher;
    if (used != null) {
      try {
        used.init(mode, key, nonce);
        return used;
      } catch (GeneralSecurityException sameAgain) {
        // A Cipher takes no key and nonce twice in a row, though a token may be opened twice.
        cipher = null;
      }
    }
    Cipher made = Cipher.getInstance(NAME);
    made.init(mode, key, nonce);
    cipher = made;
    return made;
  }
}
