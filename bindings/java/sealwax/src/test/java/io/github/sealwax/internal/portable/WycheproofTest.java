package io.github.sealwax.internal.portable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import run.endive.runtime.Instance;
import run.endive.runtime.WasmFunctionHandle;
import run.endive.wasm.WasmModule;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Project Wycheproof's ChaCha20-Poly1305, through the cipher that the module imports. WYCHEPROOF
 * names the file: tests/assurance/wycheproof has it from the crate of that name.
 */
@EnabledIfEnvironmentVariable(named = "WYCHEPROOF", matches = ".+")
class WycheproofTest {
  private static final long DONE = 0;
  private static final long REFUSED = 1;
  private static final int NONCE = 12;

  // Where the arguments of a call lie in the memory.
  private static final int KEY_AT = 0;
  private static final int NONCE_AT = 64;
  private static final int TAG_AT = 128;
  private static final int DATA_AT = 1 << 14;
  private static final int BODY_AT = 1 << 15;

  private final WasmModule module = Portable.load();
  private final HostCipher cipher = new HostCipher();
  private final Instance instance =
      Instance.builder(module)
          .withMachineFactory(Portable::create)
          .withImportValues(Imports.of(module, Environment.SYSTEM))
          .withMemoryFactory(FlatMemory::new)
          .build();
  private final FlatMemory memory = (FlatMemory) instance.memory();

  @Test
  void everyVector() {
    JsonNode file = JsonMapper.shared().readTree(Path.of(System.getenv("WYCHEPROOF")));
    Map<String, Integer> found = new TreeMap<>();
    for (JsonNode group : file.get("testGroups")) {
      for (JsonNode vector : group.get("tests")) {
        found.merge(outcome(vector), 1, Integer::sum);
      }
    }
    assertEquals("{invalid=60, of another nonce=9, valid=256}", found.toString());
    assertEquals(325, file.get("numberOfTests").asInt());
  }

  private String outcome(JsonNode vector) {
    if (hex(vector, "iv").length != NONCE) {
      return "of another nonce";
    }
    boolean isValid = isOpened(vector) && isSealed(vector);
    assertTrue(isValid || (isRefused(vector) && !isSealed(vector)), () -> "" + vector);
    String outcome = isValid ? "valid" : "invalid";
    assertEquals(vector.get("result").asString(), outcome, () -> "" + vector);
    return outcome;
  }

  private boolean isOpened(JsonNode vector) {
    return call(cipher::open, vector, "ct") == DONE && holds(BODY_AT, hex(vector, "msg"));
  }

  /** Refused, and the body is as it was. */
  private boolean isRefused(JsonNode vector) {
    return call(cipher::open, vector, "ct") == REFUSED && holds(BODY_AT, hex(vector, "ct"));
  }

  private boolean isSealed(JsonNode vector) {
    return call(cipher::seal, vector, "msg") == DONE
        && holds(BODY_AT, hex(vector, "ct"))
        && holds(TAG_AT, hex(vector, "tag"));
  }

  private long call(WasmFunctionHandle function, JsonNode vector, String body) {
    put(KEY_AT, vector, "key");
    put(NONCE_AT, vector, "iv");
    if (body.equals("ct")) {
      put(TAG_AT, vector, "tag");
    } else {
      // Sealing writes the tag, and may not find it there.
      memory.fill((byte) 0, TAG_AT, DATA_AT);
    }
    int data = put(DATA_AT, vector, "aad");
    int length = put(BODY_AT, vector, body);
    return function.apply(instance, KEY_AT, NONCE_AT, DATA_AT, data, BODY_AT, length, TAG_AT)[0];
  }

  private int put(int at, JsonNode vector, String name) {
    byte[] bytes = hex(vector, name);
    memory.write(at, bytes);
    return bytes.length;
  }

  private boolean holds(int at, byte[] expected) {
    return Arrays.equals(expected, memory.readBytes(at, expected.length));
  }

  private static byte[] hex(JsonNode vector, String name) {
    return HexFormat.of().parseHex(vector.get(name).asString());
  }
}
