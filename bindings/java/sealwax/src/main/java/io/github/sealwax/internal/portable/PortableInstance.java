package io.github.sealwax.internal.portable;

import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Instance;
import java.util.EnumMap;
import java.util.Map;
import run.endive.runtime.ExportFunction;
import run.endive.wasm.WasmModule;

/** An instance of the portable module. Addresses have 32 bits, which Java takes for signed. */
final class PortableInstance implements Instance {
  private static final int WORD = 4;

  final FlatMemory memory;
  private final ExportFunction allocate;
  private final ExportFunction free;

  private final Map<Function, ExportFunction> functions = new EnumMap<>(Function.class);

  PortableInstance(Environment environment) {
    WasmModule module = Portable.load();
    var instance =
        run.endive.runtime.Instance.builder(module)
            .withMachineFactory(Portable::create)
            .withImportValues(Imports.of(module, environment))
            .withMemoryFactory(FlatMemory::new)
            .build();
    memory = (FlatMemory) instance.memory();
    instance.export("_initialize").apply();
    allocate = instance.export("sealwax_alloc");
    free = instance.export("sealwax_free");
    for (Function function : Function.values()) {
      functions.put(function, instance.export(function.symbol()));
    }
  }

  @Override
  public int pointerSize() {
    return WORD;
  }

  @Override
  public long call(Function function, long[] arguments) {
    long[] results = functions.get(function).apply(arguments);
    return results == null || results.length == 0 ? 0 : results[0];
  }

  @Override
  public long allocate(int size) {
    return Integer.toUnsignedLong((int) allocate.apply(size)[0]);
  }

  @Override
  public void free(long address, int size) {
    free.apply(address, size);
  }

  @Override
  public void write(long address, byte[] source) {
    memory.write((int) address, source);
  }

  @Override
  public void writeInt(long address, int value) {
    memory.writeI32((int) address, value);
  }

  @Override
  public void writeLong(long address, long value) {
    memory.writeLong((int) address, value);
  }

  @Override
  public byte[] read(long address, int length) {
    return memory.readBytes((int) address, length);
  }

  @Override
  public byte readByte(long address) {
    return memory.read((int) address);
  }

  @Override
  public int readInt(long address) {
    return memory.readInt((int) address);
  }

  @Override
  public long readLong(long address) {
    return memory.readLong((int) address);
  }

  @Override
  public void drop() {
    memory.zero();
  }

  @Override
  public void wipe(long address, int size) {
    memory.fill((byte) 0, (int) address, (int) address + size);
  }
}
