package io.github.sealwax.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The functions have the types that the header gives them. */
class FunctionTest {
  private static final Pattern DECLARATION =
      Pattern.compile(
          "^(\\w[\\w ]*?[ *]+)sealwax_(\\w+)\\(([^;{]*?)\\);", Pattern.MULTILINE | Pattern.DOTALL);

  @Test
  void theTypesAreThoseOfTheHeader() throws IOException {
    Path header = Path.of(System.getProperty("repository"), "bindings/c/include/sealwax.h");
    Matcher found = DECLARATION.matcher(Files.readString(header).replaceAll("//[^\n]*", ""));
    Map<String, String> declared = new HashMap<>();
    while (found.find()) {
      String parameters = found.group(3).strip();
      declared.put(
          found.group(2),
          type(found.group(1))
              + (parameters.equals("void")
                  ? ""
                  : Arrays.stream(parameters.split(","))
                      .map(FunctionTest::type)
                      .collect(Collectors.joining())));
    }
    assertTrue(declared.size() > 60);
    for (Function function : Function.values()) {
      String name = function.symbol().substring("sealwax_".length());
      assertEquals(declared.get(name), function.types(), name);
    }
  }

  private static String type(String declaration) {
    if (declaration.contains("*") || declaration.contains("size_t")) {
      return "p";
    }
    if (declaration.contains("uint64_t")) {
      return "l";
    }
    if (declaration.strip().startsWith("bool")) {
      return "b";
    }
    return declaration.startsWith("void") ? "v" : "i";
  }
}
