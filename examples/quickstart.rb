# A tool asks something back: what it knows so far goes to the client, sealed.
require 'fiddle/import'

PREFIX = ENV.fetch('PREFIX', '/usr/local')
module Sealwax
  extend Fiddle::Importer
  dlload "#{PREFIX}/lib/libsealwax.so"
  { 'sealwax_status' => 'int', 'bool' => 'char' }.each { |name, type| typealias name, type }
  File.read("#{PREFIX}/include/sealwax.cdef.h").scan(/^\w[\w\s*]+\([^;]+;/) { |it| extern it.split.join(' ') }
end
ERROR = "\0" * 256 # its status, and a message that ends with a NUL
def must(status) = status.zero? || raise(ERROR[4..].unpack1('Z*'))
def made = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE).tap { |out| must yield(out) }.ptr

ring = made { |out| Sealwax.sealwax_ring_from_env(out, ERROR) }
audience = 'https://mcp.example.com'
codec = made { |out| Sealwax.sealwax_codec_new(ring, audience, audience.bytesize, nil, out, ERROR) }
alice = made { |out| Sealwax.sealwax_view_new(codec, nil, 0, nil, 0, 'alice', 5, out, ERROR) }

call, state, payload, size = "\0" * 32, "\0" * 256, "\0" * 64, "\0" * Fiddle::SIZEOF_SIZE_T
must Sealwax.sealwax_request_context('tools/call', 10, 'delete_note', 11, '{"id":7}', 8, call, ERROR)
purpose = [2, 0, 0, 0, 0, Fiddle::Pointer[call].to_i, 32].pack('lx4J6') # SEALWAX_KIND_REQUEST_STATE
must Sealwax.sealwax_seal(alice, purpose, nil, 'Delete note 7?', 14, state, 256, size, ERROR)
must Sealwax.sealwax_open(alice, purpose, nil, state, size.unpack1('J'), payload, 64, size, nil, ERROR)
puts payload[0, size.unpack1('J')]
