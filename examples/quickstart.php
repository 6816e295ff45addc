<?php // A tool asks something back: what it knows so far goes to the client, sealed.
$prefix = getenv('PREFIX') ?: '/usr/local';
$sealwax = FFI::cdef(file_get_contents("$prefix/include/sealwax.cdef.h"), "$prefix/lib/libsealwax.so");
[$failed, $ring, $codec, $alice] = array_map($sealwax->new(...), [
    'sealwax_error', 'sealwax_ring *', 'sealwax_codec *', 'sealwax_view *']);
[$call, $state, $payload, $size, $purpose] = array_map($sealwax->new(...), [
    'uint8_t[32]', 'char[256]', 'uint8_t[64]', 'size_t', 'sealwax_purpose']);
$error = FFI::addr($failed);
$must = fn(int $status) => $status === 0 || throw new Exception(FFI::string($failed->message));

$must($sealwax->sealwax_ring_from_env(FFI::addr($ring), $error));
$audience = 'https://mcp.example.com';
$must($sealwax->sealwax_codec_new($ring, $audience, strlen($audience), null, FFI::addr($codec), $error));
$must($sealwax->sealwax_view_new($codec, null, 0, null, 0, 'alice', 5, FFI::addr($alice), $error));

$must($sealwax->sealwax_request_context('tools/call', 10, 'delete_note', 11, '{"id":7}', 8, FFI::addr($call), $error));
$purpose->kind = $sealwax->SEALWAX_KIND_REQUEST_STATE;
[$purpose->context, $purpose->context_len] = [FFI::addr($call[0]), 32];
[$of, $len] = [FFI::addr($purpose), FFI::addr($size)];
FFI::memcpy($payload, 'Delete note 7?', 14);
$must($sealwax->sealwax_seal($alice, $of, null, $payload, 14, $state, 256, $len, $error));
$must($sealwax->sealwax_open($alice, $of, null, $state, $size->cdata, $payload, 64, $len, null, $error));
echo FFI::string($payload, $size->cdata), "\n";
