package io.github.sealwax.internal.portable;

import java.util.Map;
import run.endive.runtime.HostFunction;
import run.endive.runtime.ImportValues;
import run.endive.runtime.TrapException;
import run.endive.runtime.WasmFunctionHandle;
import run.endive.wasm.WasmModule;
import run.endive.wasm.types.FunctionImport;

/**
 * What the module imports: the clock and the randomness of WASI, and a cipher. It gets no files.
 */
final class Imports {
  private static final long[] DONE = {0};

  /** An errno of WASI: failed input or output. */
  private static final long[] IO = {29};

  /** An errno of WASI: there is no such function. */
  private static final long[] NOSYS = {52};

  private Imports() {}

  /** Returns what {@code module} imports, for one instance. */
  static ImportValues of(WasmModule module, Environment environment) {
    HostCipher cipher = new HostCipher();
    Map<String, WasmFunctionHandle> known =
        Map.of(
            "seal", cipher::seal,
            "open", cipher::open,
            "clock_time_get",
                (instance, in) -> {
                  instance.memory().writeLong((int) in[2], Math.max(0, environment.nanoseconds()));
                  return DONE;
                },
            "random_get",
                (instance, in) -> {
                  byte[] random = new byte[(int) in[1]];
                  try {
                    environment.fill(random);
                  } catch (RuntimeException none) {
                    return IO;
                  }
                  instance.memory().write((int) in[0], random);
                  return DONE;
                },
            "environ_sizes_get",
                (instance, in) -> {
                  instance.memory().writeI32((int) in[0], 0);
                  instance.memory().writeI32((int) in[1], 0);
                  return DONE;
                },
            "environ_get", (instance, in) -> DONE,
            "proc_exit",
                (instance, in) -> {
                  throw new TrapException("the module ended");
                });
    ImportValues.Builder imports = ImportValues.builder();
    module.importSection().stream()
        .map(FunctionImport.class::cast)
        .map(
            wanted ->
                new HostFunction(
                    wanted.module(),
                    wanted.name(),
                    module.typeSection().getType(wanted.typeIndex()),
                    known.getOrDefault(wanted.name(), (instance, in) -> NOSYS)))
        .forEach(imports::addFunction);
    return imports.build();
  }
}
