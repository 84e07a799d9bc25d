#!/usr/bin/env bash
# Builds the libraries that a wheel carries, from Debian's sources and by toolchain.sh's compiler:
#
#   tools/wheel/libraries.sh [x86_64-linux-gnu | aarch64-linux-gnu] [trainer]
#
# into build/wheel-TRIPLE/prefix what everything needs, and with `trainer` into build/wheel-TRIPLE/trainer
# OpenBLAS, and oneDNN: 3.2 of PyPI, which has it for x86-64 alone, or else 3.7 of Debian 13. What is built is
# static: a wheel then has no library that another copy in the process could meet, and only the parts that are
# used. Copyrights go to share/doc. What is built stays until its recipe below or the compiler changes.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/wheel/toolchain.sh "${1:-}"
. tools/wheel/debian.sh
repository=$PWD prefix=$root/prefix sysroot=$root/sysroot
export PATH=$root/bin:$PATH # where cross.cmake finds the compiler
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS

launcher=$(command -v ccache || true)
cc="$launcher $triple-gcc" # as it is handed to makefiles
export CCACHE_COMPILERCHECK=content
sections="-fPIC -ffunction-sections -fdata-sections" # a program takes the functions that it calls
jobs=$(nproc)
processor=${triple%%-*}
fail() { echo "libraries: $1" >&2; exit 1; }

# source SUITE PACKAGE: unpacks Debian's source, with its patches, into $root/sources/PACKAGE.
source_of() {
  local suite=$1 package=$2 into=$root/sources
  rm -rf "${into:?}/$package" "${into:?}/$package-unpacked"
  mkdir -p "$into/$package-unpacked"
  (cd "$into/$package-unpacked" && debian "$suite" source "$package")
  mv "$into/$package-unpacked"/*/ "$into/$package"
  rm -r "${into:?}/$package-unpacked"
}

# by_cmake SOURCE OPTION…: into $into, where libraries of $prefix are found.
by_cmake() {
  local source=$1
  shift
  cmake -G Ninja -S "$source" -B built --toolchain "$repository/tools/cmake/cross.cmake" \
    -DFEEDRATE_TARGET="$triple" -DFEEDRATE_SYSROOT="$sysroot" -DCMAKE_FIND_ROOT_PATH="$prefix" \
    -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
    -DCMAKE_C_FLAGS="$sections" -DCMAKE_CXX_FLAGS="$sections" -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF \
    -DCMAKE_INSTALL_PREFIX="$into" -DCMAKE_INSTALL_LIBDIR=lib "$@"
  cmake --build built --parallel "$jobs"
  cmake --install built
}

# Debian's patches are newer than the scripts that would be made of what they change.
unmade=(ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=:)
configure() { # OPTION…
  CC=$cc CFLAGS="-O2 $sections" ./configure --host="$triple" --prefix="$into" --libdir="$into/lib" \
    --enable-static --disable-shared "$@"
}
by_configure() { # OPTION…: likewise
  configure "$@"
  make -j"$jobs" "${unmade[@]}"
  make install "${unmade[@]}"
}

# together LIBRARY OTHER…: adds to an archive what it calls, which CMake's finders do not know.
together() {
  local library=$prefix/lib/$1
  shift
  { printf 'create %s.new\naddlib %s\n' "$library" "$library"
    printf "addlib $prefix/lib/%s\n" "$@"
    printf 'save\nend\n'; } | "$triple-ar" -M
  mv "$library.new" "$library"
}

pkgconfig() { # NAME VERSION LIBRARY: for those that come without
  mkdir -p "$prefix/lib/pkgconfig"
  printf 'Name: %s\nDescription: %s\nVersion: %s\nLibs: -L%s/lib -l%s\nCflags: -I%s/include\n' \
    "$1" "$1" "$2" "$prefix" "$3" "$prefix" >"$prefix/lib/pkgconfig/$1.pc"
}

# What is built of each package, in its source directory.
build_zlib() {
  CHOST=$triple CC=$cc CFLAGS="-O3 $sections" ./configure --static --prefix="$into"
  make -j"$jobs" libz.a
  make install
}
build_libpng1.6() { by_cmake . -DPNG_SHARED=OFF -DPNG_TESTS=OFF -DPNG_EXECUTABLES=OFF; }
build_libjpeg-turbo() {
  by_cmake . -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF -DREQUIRE_SIMD=ON -DCMAKE_INSTALL_LIBDIR="$into/lib"
}
build_libwebp() {
  by_cmake . -DWEBP_BUILD_{ANIM_UTILS,CWEBP,DWEBP,GIF2WEBP,IMG2WEBP,VWEBP,WEBPINFO,WEBPMUX,EXTRAS}=OFF \
    -DWEBP_USE_THREAD=OFF
}
build_lmdb() {
  cd libraries/liblmdb
  make CC="$cc" AR="$triple-ar" XCFLAGS="$sections" liblmdb.a
  cp liblmdb.a "$into/lib" && cp lmdb.h "$into/include"
  pkgconfig lmdb "$(awk '/define MDB_VERSION_(MAJOR|MINOR|PATCH)/ {printf dot $3; dot = "."}' lmdb.h)" lmdb
}
build_libisal() {
  local arch=
  [ "$processor" != aarch64 ] || arch=aarch64
  local make=(make -f Makefile.unx -j"$jobs" units="crc igzip" host_cpu="$processor" arch=$arch
    CC="$cc $sections" AR="$triple-ar")
  [ -z "$arch" ] || make+=(AS="$triple-gcc -D__ASSEMBLY__")
  "${make[@]}" lib
  "${make[@]}" isa-l.h
  mkdir -p "$into/include/isa-l"
  cp bin/isa-l.a "$into/lib/libisal.a"
  cp include/{crc,crc64,igzip_lib,types}.h "$into/include/isa-l" && cp isa-l.h "$into/include"
  pkgconfig libisal "$(sed -n 's/^version ?= //p' make.inc)" isal
}
build_xxhash() {
  make CC="$cc" AR="$triple-ar" CFLAGS="-O3 $sections" libxxhash.a
  cp libxxhash.a "$into/lib" && cp xxhash.h "$into/include"
  pkgconfig libxxhash "$(awk '/define XXH_VERSION_(MAJOR|MINOR|RELEASE)/ {printf dot $3; dot = "."}' xxhash.h)" xxhash
}
build_bzip2() {
  make CC="$cc" AR="$triple-ar" RANLIB="$triple-ranlib" CFLAGS="-O2 $sections -D_FILE_OFFSET_BITS=64" libbz2.a
  cp libbz2.a "$into/lib" && cp bzlib.h "$into/include"
}
build_xz-utils() {
  by_configure --disable-{xz,xzdec,lzmadec,lzmainfo,lzma-links,scripts,doc,nls}
}
build_libzstd() {
  by_cmake build/cmake -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF -DZSTD_LEGACY_SUPPORT=OFF \
    -DZSTD_MULTITHREAD_SUPPORT=OFF
}
build_libarchive() { # for tar and zip by these filters; xar would bring libxml2 and ICU
  by_configure --disable-{bsdtar,bsdcat,bsdcpio,acl,xattr} \
    --without-{xml2,expat,openssl,nettle,mbedtls,lz4,lzo2,libb2,cng,iconv}
  together libarchive.a libbz2.a liblzma.a libzstd.a libz.a
}
build_onetbb() {
  by_cmake . -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON
}
build_freetype() {
  by_cmake . -DFT_DISABLE_{BZIP2,HARFBUZZ,BROTLI}=ON -DFT_REQUIRE_{ZLIB,PNG}=ON
  together libfreetype.a libpng16.a libz.a
}
build_expat() { # a patch of Debian's asks for the value
  sed -i 's/^#cmakedefine XML_DTD$/& 1/' expat/expat_config.h.cmake
  by_cmake expat -DEXPAT_BUILD_{TOOLS,EXAMPLES,TESTS,DOCS}=OFF -DEXPAT_SHARED_LIBS=OFF
}
build_fontconfig() { # it reads the system's configuration and caches, which are not its to install
  local part
  configure --disable-docs --disable-nls --sysconfdir=/etc --localstatedir=/var \
    --with-cache-dir=/var/cache/fontconfig --with-baseconfigdir=/etc/fonts --with-configdir=/etc/fonts/conf.d \
    --with-default-fonts=/usr/share/fonts
  for part in fontconfig fc-case fc-lang src; do make -C $part -j"$jobs" "${unmade[@]}"; done
  for part in fontconfig src; do make -C $part install "${unmade[@]}"; done
  make install-pkgconfigDATA "${unmade[@]}"
  together libfontconfig.a libexpat.a libfreetype.a
}
build_openssl() { # SHA-256, and TLS for downloads
  CC=$cc AR=$triple-ar RANLIB=$triple-ranlib ./Configure "linux-$processor" --prefix="$into" --libdir=lib \
    --openssldir=/usr/lib/ssl no-{shared,tests,module,legacy,engine,dso,async,ui-console} \
    no-{aria,bf,blake2,camellia,cast,cmp,cms,comp,ct,dsa,dtls,gost,idea,md4,mdc2,ocb,ocsp,psk,rc2,rc4,rmd160} \
    no-{scrypt,seed,siphash,sm2,sm3,sm4,srp,srtp,ssl3,tls1,tls1_1,ts,whirlpool} $sections
  make -j"$jobs" build_libs
  make install_dev
}
build_curl() {
  by_cmake . -DBUILD_CURL_EXE=OFF -DCURL_USE_OPENSSL=ON -DCURL_CA_{BUNDLE,PATH}=none \
    -DUSE_LIBIDN2=OFF -DCURL_USE_LIB{PSL,SSH2}=OFF -DENABLE_MANUAL=OFF \
    -DCURL_DISABLE_{ALTSVC,DICT,DOH,FTP,GOPHER,HSTS,IMAP,LDAP,LDAPS,MQTT,NTLM,POP3,RTSP,SMB,SMTP,TELNET,TFTP}=ON
}
build_cli11() { by_cmake . -DCLI11_BUILD_{TESTS,EXAMPLES,DOCS}=OFF; }
build_fmtlib() { by_cmake . -DFMT_{TEST,DOC}=OFF; }
build_spdlog() { by_cmake . -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_{EXAMPLE,TESTS}=OFF; }
build_nlohmann-json3() { by_cmake . -DJSON_BuildTests=OFF; }
build_pugixml() { by_cmake .; }
build_openblas() { # single precision, called from one thread at a time of many
  local target=(TARGET=PRESCOTT DYNAMIC_LIST="NEHALEM SANDYBRIDGE HASWELL ZEN SKYLAKEX COOPERLAKE")
  [ "$processor" != aarch64 ] || target=(TARGET=ARMV8 DYNAMIC_LIST="CORTEXA57 NEOVERSEN1 NEOVERSEV1 NEOVERSEN2")
  local make=(make -j"$jobs" CC="$cc" AR="$triple-ar" RANLIB="$triple-ranlib" HOSTCC=gcc CROSS=1 DYNAMIC_ARCH=1
    "${target[@]}" NOFORTRAN=1 NO_LAPACK=1 NO_LAPACKE=1 ONLY_CBLAS=1 NO_SHARED=1 USE_THREAD=0 USE_LOCKING=1
    BUILD_SINGLE=1 PREFIX="$into")
  "${make[@]}" libs
  "${make[@]}" install
}
# The primitives that the trainer calls, in plain C++: its kernels for ARM cannot be had without Arm's
# Compute Library. What multiplies matrices is OpenBLAS's.
build_onednn() {
  sed -i '/find_package(spdlog/d' src/CMakeLists.txt # Debian's patch, for a log that nobody reads here
  by_cmake . -DCMAKE_CXX_FLAGS="$sections -DUSE_CBLAS -I$into/include" -DDNNL_TARGET_ARCH=ARCH_GENERIC \
    -DONEDNN_CPU_RUNTIME=OMP -DONEDNN_LIBRARY_TYPE=STATIC -DONEDNN_ARCH_OPT_FLAGS= \
    -DONEDNN_BUILD_{DOC,EXAMPLES,TESTS,GRAPH}=OFF -DONEDNN_ENABLE_PRIMITIVE="CONVOLUTION;MATMUL;REORDER"
}

# library SUITE PACKAGE: builds it unless that has been done.
library() {
  local suite=$1 package=$2 stamp status log=$root/logs/$2 start=$SECONDS
  stamp=$(cat "$root/toolchain-made" <(declare -f "build_$package" by_cmake configure by_configure) | sha256sum)
  [ "$(cat "$root/made/$package" 2>/dev/null)" != "$stamp" ] || return 0
  mkdir -p "$root"/{made,logs} "$into"/{lib,include}
  set +e # here; within || it would hold in the parentheses too
  (set -e; source_of "$suite" "$package"; cd "$root/sources/$package"; "build_$package") >"$log" 2>&1
  status=$?
  set -e
  [ $status -eq 0 ] || { tail -n 30 "$log" >&2; fail "$package did not build; $log has all of it"; }
  mkdir -p "$into/share/doc/$package"
  cp "$root/sources/$package/debian/copyright" "$into/share/doc/$package"
  echo "$stamp" >"$root/made/$package"
  rm -rf "${root:?}/sources/$package"
  echo "$triple: $package, $((SECONDS - start)) s"
}

# PyPI's oneDNN is a shared library, made for glibc 2.27 and every libstdc++ of that time.
onednn_of_pypi() {
  [ ! -e "$into/share/doc/onednn/copyright" ] || return 0
  local unpacked=$root/sources/onednn wheel
  rm -rf "$unpacked"
  mkdir -p "$unpacked" "$into"/{lib,share/doc/onednn}
  python3 -m pip download --disable-pip-version-check -q --no-deps --require-hashes -d "$unpacked" \
    -r tools/onednn.txt
  for wheel in "$unpacked"/*.whl; do (cd "$unpacked" && python3 -m zipfile -e "$wheel" .); done
  cp -r "$unpacked"/onednn_devel_*.data/data/include "$into"
  cp "$unpacked"/onednn_cpu_*.data/data/lib/libdnnl.so.3 "$into/lib"
  ln -sf libdnnl.so.3 "$into/lib/libdnnl.so"
  cat "$unpacked"/onednn_cpu_*.data/data/share/doc/onednn/{LICENSE,THIRD-PARTY-PROGRAMS} >"$into/share/doc/onednn/copyright"
  rm -r "$unpacked"
}

into=$prefix
for package in zlib libpng1.6 libjpeg-turbo libwebp lmdb libisal xxhash bzip2 xz-utils libzstd libarchive onetbb \
  freetype expat fontconfig openssl curl cli11 fmtlib spdlog nlohmann-json3 pugixml; do
  library bookworm "$package"
done
[ "${2:-}" = trainer ] || exit 0
into=$root/trainer
library bookworm openblas
cp "$sysroot/usr/lib/$triple"/libgomp.so.1 "$into/lib"
if [ "$processor" = x86_64 ]; then onednn_of_pypi; else library trixie onednn; fi
