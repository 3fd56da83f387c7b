/* jni_md.h - what jni.h asks about Windows on x86-64: each JDK has its own for its platform alone.
 * The widths and the calling convention are fixed by JNI's specification. */
#ifndef PETAL_JNI_MD_H
#define PETAL_JNI_MD_H

#define JNIEXPORT __declspec(dllexport)
#define JNIIMPORT __declspec(dllimport)
#define JNICALL __stdcall

typedef int jint;
typedef long long jlong;
typedef signed char jbyte;

#endif
