<?php
// Reads the installed sealwax.cdef.h with PHP: cdef.php PREFIX.
declare(strict_types=1);
$prefix = $argv[1];
$sealwax = FFI::cdef(file_get_contents("$prefix/include/sealwax.cdef.h"), "$prefix/lib/libsealwax.so");
$error = $sealwax->new('sealwax_error');

function check(bool $holds): void
{
    global $error;
    $holds || throw new Exception(FFI::string($error->message));
}

check($sealwax->sealwax_abi_version() === $sealwax->SEALWAX_ABI_VERSION);
$key = $sealwax->new('sealwax_key *');
check($sealwax->sealwax_key_generate(FFI::addr($key), FFI::addr($error)) === $sealwax->SEALWAX_OK);
$room = $sealwax->SEALWAX_KEY_TEXT_LEN;
$text = $sealwax->new("char[$room]");
$len = $sealwax->new('size_t');
check($sealwax->sealwax_key_to_text($key, $text, $room, FFI::addr($len), FFI::addr($error)) === $sealwax->SEALWAX_OK);
$seen = $sealwax->new('sealwax_inspection');
check($sealwax->sealwax_inspect($text, $len->cdata, FFI::addr($seen), FFI::addr($error)) === $sealwax->SEALWAX_OK);
$id = $sealwax->new('uint8_t[4]');
check($sealwax->sealwax_key_id($key, FFI::addr($id), FFI::addr($error)) === $sealwax->SEALWAX_OK);
$sealwax->sealwax_key_free($key);
check($seen->what === $sealwax->SEALWAX_IS_KEY);
check(FFI::string($seen->key_id, 4) === FFI::string($id, 4));
check($sealwax->sealwax_inspect('?', 1, FFI::addr($seen), FFI::addr($error)) === $sealwax->SEALWAX_MALFORMED);
check($error->status === $sealwax->SEALWAX_MALFORMED);
echo "PHP: the declarations are read\n";
