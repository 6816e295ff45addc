/* environment.h on Windows, where no function of a program stands in front of a library's: what the
   library under test imports is replaced in its table of imports. */
#include <string.h>
#include <windows.h>

#include "environment.h"
/* After windows.h. */
#include <dbghelp.h>

typedef void(WINAPI *clock_function)(FILETIME *time);
typedef BOOL(WINAPI *random_function)(uint8_t *buffer, SIZE_T len);

static clock_function system_clock;
static random_function system_random;
static uint64_t stopped_ms;
static int stopped;
static uint8_t given[32];
static size_t given_len;
static int denied;

static void WINAPI read_clock(FILETIME *time) {
  if (!stopped) {
    system_clock(time);
    return;
  }
  /* In units of 100 ns since 1601. */
  const uint64_t units = (stopped_ms + 11644473600000) * 10000;
  time->dwLowDateTime = (DWORD)units;
  time->dwHighDateTime = (DWORD)(units >> 32);
}

static BOOL WINAPI read_random(uint8_t *buffer, SIZE_T len) {
  if (given_len == 0 && !denied) return system_random(buffer, len);
  if (denied || len != given_len) return FALSE;
  memcpy(buffer, given, len);
  /* The library mixes the time into what it draws: this takes it out again. */
  uint64_t time = stopped ? stopped_ms * 1000000 : 0;
  for (size_t i = 0; i < len && i < sizeof time; i++) buffer[i] ^= (uint8_t)(time >> 8 * i);
  return TRUE;
}

/* Replaces a function wherever the library imports it, and returns the system's. */
static FARPROC replace(const char *from, const char *name, FARPROC ours) {
  HMODULE shared = GetModuleHandleA("sealwax.dll");
  char *base = (char *)(shared != NULL ? shared : GetModuleHandleA(NULL));
  ULONG size;
  const IMAGE_IMPORT_DESCRIPTOR *imported =
      (const IMAGE_IMPORT_DESCRIPTOR *)ImageDirectoryEntryToData(
          base, TRUE, IMAGE_DIRECTORY_ENTRY_IMPORT, &size);
  for (; imported->Name != 0; imported++) {
    const char *names = base + imported->OriginalFirstThunk;
    char *functions = base + imported->FirstThunk;
    for (;; names += sizeof(IMAGE_THUNK_DATA), functions += sizeof(IMAGE_THUNK_DATA)) {
      IMAGE_THUNK_DATA entry;
      DWORD protection;
      /* The entries of Rust's raw-dylib may be out of alignment. */
      memcpy(&entry, names, sizeof entry);
      if (entry.u1.AddressOfData == 0) break;
      if (IMAGE_SNAP_BY_ORDINAL(entry.u1.Ordinal) ||
          strcmp(((const IMAGE_IMPORT_BY_NAME *)(base + entry.u1.AddressOfData))->Name, name) != 0)
        continue;
      entry.u1.Function = (ULONGLONG)(uintptr_t)ours;
      VirtualProtect(functions, sizeof entry, PAGE_READWRITE, &protection);
      memcpy(functions, &entry, sizeof entry);
      VirtualProtect(functions, sizeof entry, protection, &protection);
    }
  }
  return GetProcAddress(GetModuleHandleA(from), name);
}

static void begin(void) {
  if (system_clock != NULL) return;
  system_clock = (clock_function)(void *)replace("kernel32.dll", "GetSystemTimePreciseAsFileTime",
                                                 (FARPROC)(void *)read_clock);
  system_random = (random_function)(void *)replace("bcryptprimitives.dll", "ProcessPrng",
                                                   (FARPROC)(void *)read_random);
}

void environment_stop_clock(uint64_t now_ms) {
  begin();
  stopped_ms = now_ms;
  stopped = 1;
}

void environment_set_random(const uint8_t *random, size_t len) {
  begin();
  given_len = len;
  memcpy(given, random, len);
}

void environment_deny_random(void) {
  begin();
  denied = 1;
}

void environment_reset(void) { stopped = denied = (int)(given_len = 0); }
