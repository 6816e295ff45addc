import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.CodeSizeEvaluator;
import run.endive.wasm.Parser;
import run.endive.wasm.types.ExportSection;

/**
 * Finishes the class files that Endive's compiler made of the portable module.
 *
 * <p>Their functions ask at each call and each loop whether the thread was interrupted, and then
 * end with an exception: the instance would be lost, with all exchanges in it. Servers interrupt
 * threads, so the question is taken out.
 *
 * <p>HotSpot never compiles a method of more than 8,000 bytes: such a function is some 50 times as
 * slow. The build fails if one can be reached from the functions of the ABI that every request
 * calls.
 */
final class Bytecode {
  private static final String QUESTION = "checkInterruption";
  private static final int HUGE = 8_000;

  private Bytecode() {}

  /**
   * Arguments: the folder of the class files; then the functions that must be fast, by their names
   * in C.
   */
  public static void main(String[] arguments) throws IOException {
    Functions functions = new Functions();
    Path folder = Path.of(arguments[0]);
    List<Path> files;
    try (Stream<Path> all = Files.walk(folder)) {
      files = all.filter(Files::isRegularFile).sorted().toList();
    }
    Map<String, String> exports = new TreeMap<>();
    for (Path file : files) {
      if (file.toString().endsWith(".class")) {
        ClassReader reader = new ClassReader(Files.readAllBytes(file));
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(functions.finish(writer), 0);
        Files.write(file, writer.toByteArray());
      } else {
        ExportSection section = Parser.parse(file).exportSection();
        for (int index = 0; index < section.exportCount(); index++) {
          exports.put(section.getExport(index).name(), "func_" + section.getExport(index).index());
        }
      }
    }
    if (functions.questions == 0) {
      throw new IllegalStateException(
          "expected a method " + QUESTION + ", found none: has Endive another way?");
    }
    for (String fast : List.of(arguments).subList(1, arguments.length)) {
      functions.check(fast, exports.get(fast));
    }
  }

  /** The functions of the module: their sizes, and whom they call. */
  private static final class Functions {
    final Map<String, Integer> sizes = new HashMap<>();
    final Map<String, Set<String>> calls = new HashMap<>();
    int questions;

    /** Fails if a function that is too large can be reached by calls from this one. */
    void check(String exported, String first) {
      Set<String> reached = new HashSet<>(Set.of(first));
      Deque<String> next = new ArrayDeque<>(reached);
      while (!next.isEmpty()) {
        String function = next.remove();
        int size = sizes.get(function);
        if (size > HUGE) {
          throw new IllegalStateException(
              exported
                  + ": expected functions of at most "
                  + HUGE
                  + " bytes, found "
                  + function
                  + " of "
                  + size);
        }
        for (String called : calls.get(function)) {
          if (reached.add(called)) {
            next.add(called);
          }
        }
      }
    }

    ClassVisitor finish(ClassVisitor writer) {
      return new ClassVisitor(Opcodes.ASM9, writer) {
        @Override
        public MethodVisitor visitMethod(
            int access, String name, String type, String signature, String[] thrown) {
          MethodVisitor method = super.visitMethod(access, name, type, signature, thrown);
          if (name.equals(QUESTION)) {
            questions++;
            method.visitCode();
            method.visitInsn(Opcodes.RETURN);
            method.visitMaxs(0, 0);
            method.visitEnd();
            return null;
          }
          return measure(name, method);
        }
      };
    }

    private MethodVisitor measure(String name, MethodVisitor method) {
      Set<String> called = new HashSet<>();
      return new CodeSizeEvaluator(Opcodes.ASM9, method) {
        @Override
        public void visitMethodInsn(
            int code, String owner, String callee, String type, boolean isInterface) {
          if (callee.startsWith("func_")) {
            called.add(callee);
          }
          super.visitMethodInsn(code, owner, callee, type, isInterface);
        }

        @Override
        public void visitEnd() {
          if (name.startsWith("func_")) {
            sizes.put(name, getMinSize());
            calls.put(name, called);
          }
          super.visitEnd();
        }
      };
    }
  }
}
