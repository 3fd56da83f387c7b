# formula.rb FILE PREFIX - runs the formula's install and test as Homebrew would, in the current
# folder, which must contain the unpacked sources: `ruby formula.rb petal.rb /tmp/prefix`. It
# implements only the calls that this formula uses. Prints url and sha256.
require "pathname"

class Formula
  FIELDS = {}
  %i[desc homepage url sha256 license].each do |name|
    define_singleton_method(name) { |value| FIELDS[name] = value }
  end
  def self.depends_on(*); end
  def self.uses_from_macos(*); end
  def self.test(&block) = define_method(:run_test, &block)

  def bin = PREFIX/"bin"
  def testpath = Pathname.pwd
  def std_cmake_args = ["-DCMAKE_INSTALL_PREFIX=#{PREFIX}", "-DCMAKE_BUILD_TYPE=Release"]
  def system(*command) = Kernel.system(*command.map(&:to_s), out: :err) || abort("failed: #{command.join(" ")}")
  def shell_output(command) = `#{command}`.tap { abort("failed: #{command}") unless $?.success? }
  def assert_equal(wanted, found) = wanted == found || abort("#{found.inspect}, not #{wanted.inspect}")
end

PREFIX = Pathname.new(ARGV[1])
class Pathname
  def write(text) = File.write(self, text)
end
load ARGV[0]
%i[desc homepage url sha256 license].each { |name| abort("no #{name}") unless Formula::FIELDS[name] }
abort("desc: above 80 characters, or with the name in it") if Formula::FIELDS[:desc] =~ /petal|\A(a|the) |.{81}/i
Petal.new.install
Dir.mktmpdir { |folder| Dir.chdir(folder) { Petal.new.run_test } } if require "tmpdir"
puts Formula::FIELDS.values_at(:url, :sha256)
