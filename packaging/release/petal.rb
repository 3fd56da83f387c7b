class Petal < Formula
  desc "Bloom filters in files, for the shell and many languages"
  homepage "@HOMEPAGE@"
  url "@RELEASES@/petal-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "xxhash" => :build
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build/brew", "-DPETAL_BUILD_TESTS=OFF", "-DPETAL_BUILD_EXAMPLES=OFF", *std_cmake_args
    system "cmake", "--build", "build/brew"
    system "cmake", "--install", "build/brew"
  end

  test do
    (testpath/"keys").write("a\nb\n")
    system bin/"petal", "build", "-o", "keys.petal", "keys"
    assert_equal "2", shell_output("#{bin}/petal check -c keys.petal keys").strip
  end
end
