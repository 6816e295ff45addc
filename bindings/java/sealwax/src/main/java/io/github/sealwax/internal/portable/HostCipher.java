package io.github.sealwax.internal.portable;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import run.endive.runtime.Instance;

/**
 * ChaCha20-Poly1305 (RFC 8439) by the Java runtime, for one instance. The module gives a key for
 * one token, and encrypts in place.
 */
final class HostCipher {
  private static final String NAME = "ChaCha20-Poly1305";
  private static final int KEY = 32;
  private static final int NONCE = 12;
  private static final int TAG = 16;

  // The parameters of both functions.
  private static final int KEY_AT = 0;
  private static final int NONCE_AT = 1;
  private static final int DATA = 2;
  private static final int DATA_LENGTH = 3;
  private static final int BODY = 4;
  private static final int BODY_LENGTH = 5;
  private static final int TAG_AT = 6;

  private static final long[] DONE = {0};
  private static final long[] REFUSED = {1};

  private @Nullable Cipher cipher;

  long[] seal(Instance instance, long... in) {
    byte[] memory = ((FlatMemory) instance.memory()).array();
    int body = (int) in[BODY];
    int length = (int) in[BODY_LENGTH];
    byte[] sealed = run(Cipher.ENCRYPT_MODE, memory, in, memory, body, length);
    if (sealed == null) {
      return REFUSED;
    }
    System.arraycopy(sealed, 0, memory, body, length);
    System.arraycopy(sealed, length, memory, (int) in[TAG_AT], TAG);
    return DONE;
  }

  long[] open(Instance instance, long... in) {
    byte[] memory = ((FlatMemory) instance.memory()).array();
    int body = (int) in[BODY];
    int length = (int) in[BODY_LENGTH];
    byte[] sealed = new byte[length + TAG];
    System.arraycopy(memory, body, sealed, 0, length);
    System.arraycopy(memory, (int) in[TAG_AT], sealed, length, TAG);
    byte[] opened = run(Cipher.DECRYPT_MODE, memory, in, sealed, 0, sealed.length);
    if (opened == null) {
      return REFUSED;
    }
    System.arraycopy(opened, 0, memory, body, length);
    Arrays.fill(opened, (byte) 0);
    return DONE;
  }

  private byte @Nullable [] run(
      int mode, byte[] memory, long[] in, byte[] text, int at, int length) {
    SecretKeySpec key = new SecretKeySpec(memory, (int) in[KEY_AT], KEY, "ChaCha20");
    IvParameterSpec nonce = new IvParameterSpec(memory, (int) in[NONCE_AT], NONCE);
    try {
      Cipher begun = begin(mode, key, nonce);
      begun.updateAAD(memory, (int) in[DATA], (int) in[DATA_LENGTH]);
      return begun.doFinal(text, at, length);
    } catch (AEADBadTagException wrong) {
      return null;
    } catch (GeneralSecurityException fault) {
      throw new IllegalStateException(NAME + ": " + fault.getMessage(), fault);
    }
  }

  private Cipher begin(int mode, SecretKeySpec key, IvParameterSpec nonce)
      throws GeneralSecurityException {
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
